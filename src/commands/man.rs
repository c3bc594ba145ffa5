//! `cc-etl man`: prints the manual page of a command, or writes all of them.

use super::print;
use crate::cli::{Cli, ManArguments};
use crate::error::{Error, Result};
use clap::CommandFactory;
use std::fs;

pub fn run(arguments: &ManArguments) -> Result<()> {
    let mut program = Cli::command();
    if let Some(folder) = &arguments.out {
        fs::create_dir_all(folder).map_err(Error::io(folder))?;
        return clap_mangen::generate_to(program, folder).map_err(Error::io(folder));
    }
    // Names the subcommands after the program, and passes the options of all commands on to them.
    program.build();
    let mut command = &program;
    for name in &arguments.command {
        command = command.find_subcommand(name).ok_or_else(|| {
            let parent = command.get_bin_name().unwrap_or("cc-etl");
            Error::Usage(format!(
                "{parent} has no command {name}; see {parent} --help"
            ))
        })?;
    }
    let mut page = Vec::new();
    let rendered = clap_mangen::Man::new(command.clone()).render(&mut page);
    rendered.map_err(Error::io("the manual page"))?;
    print(String::from_utf8_lossy(&page).trim_end())
}
