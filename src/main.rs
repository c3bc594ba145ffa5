//! Parses the arguments, runs the command, prints its error and sets the exit code.

use cc_etl::cli::{Cli, Command};
use cc_etl::error::{Error, Result};
use cc_etl::{commands, stop};
use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| commands::warn(&panic.to_string())));
    match run(Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            commands::warn(&error.to_string());
            ExitCode::from(error.exit_code())
        }
    }
}

fn run(cli: Cli) -> Result<()> {
    stop::survive_file_size_limit()?;
    let (global, json) = (cli.global, cli.json);
    let Some(command) = cli.command else {
        return commands::overview::run(&global, json);
    };
    if json {
        let message = "give --json after the command";
        return Err(Error::Usage(message.to_string()));
    }
    if global.demo
        && !matches!(
            command,
            Command::Sync(_) | Command::Hook(_) | Command::Service(_)
        )
    {
        commands::sync::create_demo(&global)?;
    }
    match command {
        Command::Sync(arguments) => commands::sync::run(&global, &arguments),
        Command::Hook(command) => commands::hook::run(&global, &command),
        Command::Service(command) => commands::service::run(&global, &command),
        Command::Restore(arguments) => commands::restore::run(&global, &arguments),
        Command::Backup(arguments) => commands::backup::run(&global, &arguments),
        Command::Export(arguments) => commands::export::run(&global, &arguments),
        Command::Merge(arguments) => commands::merge::run(&global, &arguments),
        Command::Rebuild => commands::rebuild::run(&global),
        Command::Check(arguments) => commands::check::run(&global, &arguments),
        Command::Status(arguments) => commands::status::run(&global, &arguments),
        Command::Doctor(arguments) => commands::doctor::run(&global, &arguments),
        Command::Daily(arguments) => commands::query::ask(&global, "daily", &arguments),
        Command::Weekly(arguments) => commands::query::ask(&global, "weekly", &arguments),
        Command::Monthly(arguments) => commands::query::ask(&global, "monthly", &arguments),
        Command::Sessions(arguments) => {
            commands::query::ask(&global, "recent_sessions", &arguments)
        }
        Command::Projects(arguments) => {
            commands::query::ask(&global, "expensive_projects", &arguments)
        }
        Command::Models(arguments) => commands::query::ask(&global, "models", &arguments),
        Command::Blocks(arguments) => commands::query::blocks(&global, &arguments),
        Command::Statusline => commands::statusline::run(&global),
        Command::Budget(arguments) => commands::budget::run(&global, &arguments),
        Command::Advise(arguments) => commands::advise::run(&global, &arguments),
        Command::Query(arguments) => commands::query::run(&global, &arguments),
        Command::Search(arguments) => commands::search::run(&global, &arguments),
        Command::Show(arguments) => commands::show::run(&global, &arguments),
        Command::Prices(arguments) => commands::prices::run(&global, &arguments),
        Command::Config(arguments) => commands::config::run(&global, &arguments),
        Command::Datasette(arguments) => commands::datasette::run(&global, &arguments),
        Command::Report(arguments) => commands::report::run(&global, &arguments),
        Command::Mcp(arguments) => commands::mcp::run(&global, &arguments),
        Command::Path => commands::path::run(&global),
        Command::Sql(arguments) => commands::sql::run(&global, &arguments),
        Command::Completions(arguments) => commands::completions::run(&arguments),
        Command::Man(arguments) => commands::man::run(&arguments),
        Command::Schema(arguments) => commands::schema::run(&arguments),
    }
}
