//! A progress bar on stderr if it is a terminal. The only module that uses indicatif.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

pub struct Progress(ProgressBar);

impl Progress {
    pub fn bytes(total: u64, is_quiet: bool) -> Progress {
        let target = match is_quiet {
            true => ProgressDrawTarget::hidden(),
            // indicatif hides the bar if stderr is not a terminal.
            false => ProgressDrawTarget::stderr(),
        };
        let style = ProgressStyle::with_template(
            "{msg:8} {bar:30} {bytes:>10} of {total_bytes}  {bytes_per_sec}  {eta} left",
        )
        .expect("the template is valid")
        .progress_chars("━╸─");
        let bar = ProgressBar::with_draw_target(Some(total), target).with_style(style);
        bar.set_message("reading");
        Progress(bar)
    }

    pub fn advance(&self, bytes: u64) {
        self.0.inc(bytes);
    }

    pub fn message(&self, message: &'static str) {
        self.0.set_message(message);
    }

    pub fn finish(self) {
        self.0.finish_and_clear();
    }
}
