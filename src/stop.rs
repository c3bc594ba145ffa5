//! SIGINT and SIGTERM: what has begun is finished and kept, then the run ends. A second one ends it at once.

use crate::error::{Error, Result};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Whether the run is to end early.
#[derive(Default)]
pub struct Stop {
    signal: Arc<AtomicUsize>,
}

impl Stop {
    /// From now on the signals are noted here.
    pub fn listen() -> Result<Stop> {
        let stop = Stop::default();
        let is_stopping = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // They are called in this order, so only a second signal finds the flag set.
            flag::register_conditional_shutdown(signal, 128 + signal, is_stopping.clone())
                .and_then(|_| flag::register(signal, is_stopping.clone()))
                .and_then(|_| {
                    let number = usize::try_from(signal).expect("signals have small numbers");
                    flag::register_usize(signal, stop.signal.clone(), number)
                })
                .map_err(Error::io("signals"))?;
        }
        Ok(stop)
    }

    /// Whether a signal has come.
    pub fn is_requested(&self) -> bool {
        self.signal.load(Ordering::SeqCst) != 0
    }

    /// The end of a run that a signal stopped.
    pub fn check(&self) -> Result<()> {
        match u8::try_from(self.signal.load(Ordering::SeqCst)) {
            Ok(0) => Ok(()),
            Ok(signal) => Err(Error::Stopped(signal)),
            Err(_) => unreachable!("only small numbers are stored"),
        }
    }
}

/// Makes a write beyond `ulimit -f` an error as any other: the signal would end the program without a word.
pub fn survive_file_size_limit() -> Result<()> {
    #[cfg(unix)]
    flag::register(
        signal_hook::consts::SIGXFSZ,
        Arc::new(AtomicBool::new(false)),
    )
    .map_err(Error::io("signals"))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_gives_its_number_to_the_exit_code() {
        let stop = Stop::default();
        assert!(stop.check().is_ok() && !stop.is_requested());
        stop.signal.store(15, Ordering::SeqCst);
        assert!(stop.is_requested());
        assert_eq!(stop.check().unwrap_err().exit_code(), 143);
    }
}
