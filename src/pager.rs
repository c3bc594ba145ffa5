//! Shows long output in a pager, as git does: `$PAGER`, else `less`, which shows colours and leaves short output on the screen.

use crate::error::{Error, Result};
use signal_hook::consts::SIGINT;
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The shell's status for a program that it does not find.
const NOT_FOUND: i32 = 127;

/// Shows the text, unless there is no pager; returns whether it did. Wide text is scrolled sideways, not wrapped.
pub fn show(text: &str, is_wide: bool) -> Result<bool> {
    let mut command = match std::env::var("PAGER") {
        Ok(pager) if ["", "cat"].contains(&pager.trim()) => return Ok(false),
        Ok(pager) => in_shell(&pager),
        Err(_) => Command::new("less"),
    };
    // F: quit if all fits; R: show colours; X: leave the text on the screen; S: do not wrap.
    let options = if is_wide { "FRXS" } else { "FRX" };
    for (name, default) in [("LESS", options), ("LV", "-c"), ("LESSCHARSET", "utf-8")] {
        if std::env::var_os(name).is_none() {
            command.env(name, default);
        }
    }
    // Ctrl-C is for the pager; without this it would end this program and leave the pager without a terminal.
    signal_hook::flag::register(SIGINT, Arc::new(AtomicBool::new(false)))
        .map_err(Error::io("signals"))?;
    let Ok(mut child) = command.stdin(Stdio::piped()).spawn() else {
        return Ok(false);
    };
    if let Some(mut input) = child.stdin.take() {
        // Who quits the pager early closes the pipe.
        let _ = input
            .write_all(text.as_bytes())
            .and_then(|()| input.write_all(b"\n"));
    }
    let status = child.wait().map_err(Error::io("the pager"))?;
    Ok(status.code() != Some(NOT_FOUND))
}

/// `$PAGER` may have options.
fn in_shell(pager: &str) -> Command {
    let (shell, option) = if cfg!(windows) {
        ("cmd", "/C")
    } else {
        ("sh", "-c")
    };
    let mut command = Command::new(shell);
    command.args([option, pager]);
    command
}
