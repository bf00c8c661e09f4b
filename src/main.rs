//! The command `couloir`: the only place that prints and exits.

use std::io::{IsTerminal, Write};

use couloir::Error;
use couloir::cli::{self, Console};
use couloir::cluster::comm;
use couloir::node::resident;

fn main() {
    resident::keep_little();
    // The level is the user's to lower (--quiet); a second logger cannot exist here.
    if log::set_logger(&Logger).is_ok() {
        log::set_max_level(log::LevelFilter::Info);
    }
    if let Some(lack) = processor_lacks() {
        let _ = writeln!(std::io::stderr(), "error: {lack}");
        std::process::exit(1);
    }
    let mut out = std::io::stdout();
    let mut console = Console::new(&mut out, std::io::stderr().is_terminal());
    let result = cli::call(std::env::args_os().skip(1), &mut console);
    let Err(error) = result.and_then(|()| console.flush()) else {
        comm::finish();
        return;
    };
    if is_closed_pipe(&error) {
        comm::abort(0);
        return;
    }
    // Where all ranks meet the same error, one of them tells.
    comm::wait_for_turn();
    // Nothing can be said any more where standard error is closed, too.
    let _ = writeln!(std::io::stderr(), "error: {error}");
    comm::abort(error.exit_code());
    std::process::exit(error.exit_code());
}

/// What the binary was built for and the processor has not. Only 32-bit ARM has to be asked:
/// there, fused multiply-adds are chosen when the binary is built, not when it runs.
fn processor_lacks() -> Option<&'static str> {
    #[cfg(target_arch = "arm")]
    {
        const VFPV4: libc::c_ulong = 1 << 16;
        // SAFETY: getauxval reads a table that the kernel filled before the start.
        let features = unsafe { libc::getauxval(libc::AT_HWCAP) };
        if option_env!("COULOIR_VFPV4").is_some() && features & VFPV4 == 0 {
            return Some(
                "this processor has no fused multiply-add (VFPv4), for which this binary was built; \
                 build with cross/build armv7 --cpu generic",
            );
        }
    }
    None
}

/// Whether the reader of our output has had enough, as in `couloir mesh FILE | head`.
fn is_closed_pipe(error: &Error) -> bool {
    matches!(error, Error::Io { path, source, .. }
        if path.as_os_str() == cli::STDOUT && source.kind() == std::io::ErrorKind::BrokenPipe)
}

/// Prints what the library logs: information among the output, warnings beside it.
struct Logger;

impl log::Log for Logger {
    fn enabled(&self, metadata: &log::Metadata) -> bool {
        metadata.target().starts_with("couloir") && metadata.level() <= log::max_level()
    }

    fn log(&self, record: &log::Record) {
        if !self.enabled(record.metadata()) {
            return;
        }
        // A lost log line must not end the run; a full disk shows at the next result.
        let _ = match record.level() {
            log::Level::Error => writeln!(std::io::stderr(), "error: {}", record.args()),
            log::Level::Warn => writeln!(std::io::stderr(), "warning: {}", record.args()),
            _ => writeln!(std::io::stdout(), "{}", record.args()),
        };
    }

    fn flush(&self) {}
}
