//! Handles SIGINT and SIGTERM: the first ends the run after its current transaction, the second ends it at once.

use crate::error::{Error, Result};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The signal that was received, if any.
#[derive(Default)]
pub struct Stop {
    signal: Arc<AtomicUsize>,
}

impl Stop {
    /// Installs the handlers.
    pub fn listen() -> Result<Stop> {
        let stop = Stop::default();
        let is_stopping = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // Handlers run in the order of registration, so only a second signal finds the flag set.
            flag::register_conditional_shutdown(signal, 128 + signal, is_stopping.clone())
                .and_then(|_| flag::register(signal, is_stopping.clone()))
                .and_then(|_| {
                    let number = usize::try_from(signal).expect("signal numbers are positive");
                    flag::register_usize(signal, stop.signal.clone(), number)
                })
                .map_err(Error::io("signals"))?;
        }
        Ok(stop)
    }

    pub fn is_requested(&self) -> bool {
        self.signal.load(Ordering::SeqCst) != 0
    }

    /// Fails if a signal was received.
    pub fn check(&self) -> Result<()> {
        match u8::try_from(self.signal.load(Ordering::SeqCst)) {
            Ok(0) => Ok(()),
            Ok(signal) => Err(Error::Stopped(signal)),
            Err(_) => unreachable!("signal numbers fit into a byte"),
        }
    }
}

/// Makes a write beyond `ulimit -f` fail with an I/O error. By default SIGXFSZ would end the program without a message.
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
    fn the_exit_code_is_128_plus_the_signal() {
        let stop = Stop::default();
        assert!(stop.check().is_ok() && !stop.is_requested());
        stop.signal.store(15, Ordering::SeqCst);
        assert!(stop.is_requested());
        assert_eq!(stop.check().unwrap_err().exit_code(), 143);
    }
}
