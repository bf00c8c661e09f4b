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

/// Arrays of this size, bytes, live in mappings of their own, which end when they are freed. (With
/// 1 MiB here a start-up takes 20 % longer: the system clears each page anew.)
#[cfg(target_env = "gnu")]
const OWN_MAPPING: libc::c_int = 16 << 20;
/// Free memory at the end of a thread's heap beyond this, bytes, goes back at once.
#[cfg(target_env = "gnu")]
const SPARE: libc::c_int = 1 << 20;

/// From now on every thread gives back what is free at the end of its heap. By itself the C library
/// raises both limits with the arrays that are freed, to 32 and 64 MiB, and [`give_back`] does not
/// reach the end of another thread's heap: it kept tens of megabytes for good, more or fewer from run
/// to run. To be called before threads start.
pub fn keep_little() {
    #[cfg(target_env = "gnu")]
    // SAFETY: both set numbers of the allocator, which may be done at any time.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, OWN_MAPPING);
        libc::mallopt(libc::M_TRIM_THRESHOLD, SPARE);
    }
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
