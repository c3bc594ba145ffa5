//! A progress bar on stderr if it is a terminal. The only module that uses indicatif.

use crate::terminal::{byte_size, duration};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt::Write;
use std::time::Duration;

pub struct Progress(ProgressBar);

impl Progress {
    /// What is done with this many bytes.
    pub fn bytes(what: &'static str, total: u64, is_quiet: bool) -> Progress {
        let target = match is_quiet {
            true => ProgressDrawTarget::hidden(),
            // indicatif hides the bar if stderr is not a terminal.
            false => ProgressDrawTarget::stderr(),
        };
        Progress::on(target, what, total)
    }

    fn on(target: ProgressDrawTarget, what: &'static str, total: u64) -> Progress {
        // The bar takes what the fields of fixed width leave.
        let style = style("{msg:8} {wide_bar} {amount}  {speed}  {left}")
            .with_key("amount", amount)
            .with_key("speed", speed)
            .with_key("left", left);
        let bar = ProgressBar::with_draw_target(Some(total), target).with_style(style);
        bar.set_message(what);
        Progress(bar)
    }

    pub fn advance(&self, bytes: u64) {
        // A file can grow while it is read.
        let total = self.0.length().unwrap_or(u64::MAX);
        self.0.set_position(total.min(self.0.position() + bytes));
    }

    /// Goes on to a step of unknown length.
    pub fn step(&self, what: &'static str) {
        self.0
            .set_style(style("{msg:8} {spinner} {time}").with_key("time", time));
        self.0.reset_elapsed();
        self.0.set_message(what);
        if !self.0.is_hidden() {
            self.0.enable_steady_tick(Duration::from_millis(100));
        }
    }

    pub fn finish(self) {
        self.0.finish_and_clear();
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template)
        .expect("the template is valid")
        .progress_chars("━╸─")
}

fn amount(state: &ProgressState, out: &mut dyn Write) {
    let total = byte_size(state.len().unwrap_or(0));
    let _ = write!(out, "{:>9} of {total}", byte_size(state.pos()));
}

fn speed(state: &ProgressState, out: &mut dyn Write) {
    let _ = write!(out, "{:>9}/s", byte_size(state.per_sec() as u64));
}

/// Nothing while the time is not known.
fn left(state: &ProgressState, out: &mut dyn Write) {
    let seconds = state.eta().as_secs();
    let left = match seconds {
        0 => String::new(),
        1..10 => format!("{seconds} s left"),
        _ => format!("{} left", duration(seconds as f64 * 1000.0)),
    };
    let _ = write!(out, "{left:>14}");
}

fn time(state: &ProgressState, out: &mut dyn Write) {
    let _ = write!(out, "{}", duration(state.elapsed().as_millis() as f64));
}

#[cfg(test)]
mod tests {
    use super::*;
    use indicatif::TermLike;
    use std::io;
    use std::sync::{Arc, Mutex};
    use unicode_width::UnicodeWidthStr;

    /// A terminal of 80 columns that keeps what is written.
    #[derive(Debug, Clone, Default)]
    struct Screen(Arc<Mutex<Vec<String>>>);

    impl Screen {
        fn keep(&self, text: &str) -> io::Result<()> {
            self.0.lock().unwrap().push(text.to_string());
            Ok(())
        }
    }

    impl TermLike for Screen {
        fn width(&self) -> u16 {
            80
        }
        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn write_line(&self, text: &str) -> io::Result<()> {
            self.keep(text)
        }
        fn write_str(&self, text: &str) -> io::Result<()> {
            self.keep(text)
        }
        fn clear_line(&self) -> io::Result<()> {
            Ok(())
        }
        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_bar_fits_80_columns_and_does_not_overshoot() {
        let screen = Screen::default();
        let target = ProgressDrawTarget::term_like_with_hz(Box::new(screen.clone()), 255);
        let progress = Progress::on(target, "reading", 123_456_789_012);
        for _ in 0..5 {
            progress.advance(30_000_000_000);
            std::thread::sleep(Duration::from_millis(10));
        }
        progress.0.force_draw();
        progress.step("indexing");
        progress.finish();
        let lines = screen.0.lock().unwrap();
        assert!(lines.iter().all(|line| line.width() <= 80), "{lines:#?}");
        assert!(
            lines.iter().any(|line| line.contains("123 GB of 123 GB")),
            "{lines:#?}"
        );
        assert!(
            !lines.iter().any(|line| line.contains("150 GB")),
            "{lines:#?}"
        );
        assert!(
            !lines.iter().any(|line| line.contains(" 0 ms left")),
            "{lines:#?}"
        );
        assert!(
            lines.iter().any(|line| line.starts_with("indexing")),
            "{lines:#?}"
        );
    }
}
