//! Memory that this process holds, and giving back what it does not need any more.

/// Memory that this process holds, and the most that it has held; zeros where it is not told.
pub fn memory_bytes() -> [f64; 2] {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    ["VmRSS:", "VmHWM:"].map(|name| {
        let line = text.lines().find_map(|l| l.strip_prefix(name));
        let kib = line.and_then(|l| l.split_whitespace().next()?.parse::<f64>().ok());
        kib.unwrap_or(0.0) * 1024.0
    })
}

/// Gives memory that was freed back to the system. The C library keeps it for the next request,
/// which after a start-up that takes much more than the run does never comes.
pub fn give_back() {
    #[cfg(target_env = "gnu")]
    // SAFETY: it may be called at any time; nothing that is in use moves.
    unsafe {
        libc::malloc_trim(0);
    }
}
