//! `cc-etl completions`: prints completions for a shell.

use super::print;
use crate::cli::{Cli, CompletionsArguments};
use crate::error::Result;
use clap::CommandFactory;

pub fn run(arguments: &CompletionsArguments) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "cc-etl", &mut script);
    print(String::from_utf8_lossy(&script).trim_end())
}
