//! The one place that knows indicatif: a bar on stderr when it is a terminal, nothing otherwise.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Progress of a long work, in bytes.
pub struct Progress(ProgressBar);

impl Progress {
    /// A bar for so many bytes; silent on request.
    pub fn bytes(total: u64, is_quiet: bool) -> Progress {
        let target = match is_quiet {
            true => ProgressDrawTarget::hidden(),
            // Hides itself when stderr is not a terminal.
            false => ProgressDrawTarget::stderr(),
        };
        let style = ProgressStyle::with_template(
            "{msg:8} {bar:30} {bytes:>10} of {total_bytes}  {bytes_per_sec}  {eta} left",
        )
        .expect("the template is right")
        .progress_chars("━╸─");
        let bar = ProgressBar::with_draw_target(Some(total), target).with_style(style);
        bar.set_message("reading");
        Progress(bar)
    }

    /// So many bytes more are done.
    pub fn advance(&self, bytes: u64) {
        self.0.inc(bytes);
    }

    /// What is being done now.
    pub fn message(&self, message: &'static str) {
        self.0.set_message(message);
    }

    /// Takes the bar away.
    pub fn finish(self) {
        self.0.finish_and_clear();
    }
}
