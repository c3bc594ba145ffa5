//! The command line: every option and its help.

use crate::format::Format;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Turns a Claude Code home (~/.claude) into one SQLite file that keeps everything and can be queried.
///
/// Claude Code deletes its transcripts after 30 days. cc-etl keeps them: the bytes in an archive, and what they say in
/// tables that sqlite3, Datasette and BI tools read.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

/// Options of every command.
#[derive(Debug, Args)]
pub struct Global {
    /// The database; default: cc-etl.db in the folder for your data
    #[arg(long, global = true, value_name = "FILE", env = "CC_ETL_DB")]
    pub db: Option<PathBuf>,
    /// Print nothing but errors
    #[arg(long, short, global = true)]
    pub quiet: bool,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Import what is new in your Claude home
    Sync(SyncArguments),
    /// Write transcripts back from the archive, byte for byte
    Restore(RestoreArguments),
    /// Derive all tables again from the archive, without the sources
    Rebuild,
    /// Prove that the database is whole
    Check(CheckArguments),
    /// Show the prices of models, or add your own
    #[command(subcommand)]
    Prices(PricesCommand),
    /// Print the schema
    Schema(SchemaArguments),
}

#[derive(Debug, Args)]
pub struct SyncArguments {
    /// A Claude home; may be given several times. Default: CLAUDE_CONFIG_DIR, else ~/.claude
    #[arg(long, value_name = "DIR")]
    pub source: Vec<PathBuf>,
    /// Name of this machine in the database; default: its host name
    #[arg(long, value_name = "NAME")]
    pub machine: Option<String>,
    /// Import this transcript only
    #[arg(long, value_name = "TRANSCRIPT", conflicts_with_all = ["source", "demo"])]
    pub file: Option<PathBuf>,
    /// Import the invented home that ships with the program
    #[arg(long, conflicts_with = "source")]
    pub demo: bool,
    /// Make the outputs of tools searchable too, from now on; the index grows several times
    #[arg(long)]
    pub index_tool_output: bool,
    /// Threads to use; default: one per core
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
    /// Exit with 65 if any line was rejected
    #[arg(long)]
    pub strict: bool,
    /// Print the summary as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct RestoreArguments {
    /// Sessions to restore, with their agents; the start of an id is enough. Default: everything
    #[arg(value_name = "SESSION")]
    pub sessions: Vec<String>,
    /// Where to write; existing files are never overwritten
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Write older versions of rewritten files too, as NAME.version-N
    #[arg(long)]
    pub all_versions: bool,
}

#[derive(Debug, Args)]
pub struct CheckArguments {
    /// Print a hash of the content of every table, the same for every database with the same content
    #[arg(long)]
    pub hash: bool,
}

#[derive(Debug, Args)]
pub struct SchemaArguments {
    /// The statements themselves, or a page about them
    #[arg(long, value_enum, default_value_t = SchemaFormat::Sql)]
    pub format: SchemaFormat,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum SchemaFormat {
    /// create statements with their comments
    Sql,
    /// tables, columns, views and a diagram
    Markdown,
}

#[derive(Debug, Subcommand)]
pub enum PricesCommand {
    /// List all prices; rows of yours win over built-in ones
    List(PricesListArguments),
    /// Add prices from a file, or correct them: the cost views show it at once
    ///
    /// The file is a CSV file with a header or a JSON list of objects, with the columns of `prices list --format csv`
    /// (model, input_usd and output_usd are needed; USD per million tokens; without valid_from a price holds for all
    /// time), or the model_prices JSON file of LiteLLM as it is, whose prices hold from today on.
    Import(PricesImportArguments),
}

#[derive(Debug, Args)]
pub struct PricesListArguments {
    /// How to print them; csv is what `prices import` reads
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

#[derive(Debug, Args)]
pub struct PricesImportArguments {
    /// CSV, JSON, or LiteLLM's price file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The first day that the prices hold, for rows without a day of their own
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub valid_from: Option<String>,
}
