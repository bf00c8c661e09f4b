//! A progress bar on a terminal, and none elsewhere.

use indicatif::{ProgressBar, ProgressStyle};

/// Steps of the bar: fine enough for a smooth bar and a steady estimate of the time left.
const TICKS: u64 = 1000;

/// Progress of a long task; drawn on standard error.
pub struct Progress {
    bar: Option<ProgressBar>,
}

impl Progress {
    /// A bar if `terminal`, else nothing.
    pub fn new(terminal: bool) -> Self {
        let bar = terminal.then(|| {
            let bar = ProgressBar::new(TICKS);
            let template = "{bar:30} {percent:>3} %  {elapsed} of about {duration}  {wide_msg}";
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style);
            }
            bar
        });
        Self { bar }
    }

    /// Moves the bar to `fraction` in [0, 1], with a short message.
    pub fn set(&self, fraction: f64, message: impl FnOnce() -> String) {
        if let Some(bar) = &self.bar {
            bar.set_position((fraction.clamp(0.0, 1.0) * TICKS as f64) as u64);
            bar.set_message(message());
        }
    }

    /// Calls `print` with the bar out of the way.
    pub fn beside<R>(&self, print: impl FnOnce() -> R) -> R {
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
