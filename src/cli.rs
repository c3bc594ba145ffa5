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
    /// Copy the database safely, also while a sync is writing it
    Backup(BackupArguments),
    /// Derive all tables again from the archive, without the sources
    Rebuild,
    /// Prove that the database is whole
    ///
    /// It only reads, and never repairs. Exit code 1 if anything is wrong.
    Check(CheckArguments),
    /// Show what is in the database and what is not yet
    Status,
    /// Tell what is at risk, and what helps
    Doctor,
    /// Ask a question: one that ships with the program, or SQL
    ///
    /// Without a name it lists the questions. Only reading is possible here.
    Query(QueryArguments),
    /// Find words in prompts, answers, thinking and commands
    Search(SearchArguments),
    /// Read a session, as Markdown or JSON
    Show(ShowArguments),
    /// Show the prices of models, or add your own
    #[command(subcommand)]
    Prices(PricesCommand),
    /// Write what Datasette needs to show the database well, and start it
    Datasette(DatasetteArguments),
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
    /// Wait while another sync is writing the database, for so many seconds or until it has finished; without it, exit with 75
    #[arg(long, value_name = "SECONDS")]
    pub wait: Option<Option<u64>>,
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
pub struct BackupArguments {
    /// Where to write the copy
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    pub overwrite: bool,
}

#[derive(Debug, Args)]
pub struct CheckArguments {
    /// Print a hash of the content of every table, the same for every database with the same content
    #[arg(long)]
    pub hash: bool,
    /// Derive all tables again from the archive, in a copy beside the database, and compare: takes as long as a rebuild
    #[arg(long, conflicts_with = "hash")]
    pub deep: bool,
    /// Compare with the files that are still on disk, byte for byte
    #[arg(long, conflicts_with = "hash")]
    pub sources: bool,
}

#[derive(Debug, Args)]
pub struct DatasetteArguments {
    /// Where to write metadata.yaml: descriptions, questions and dashboards
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Start Datasette with it
    #[arg(long)]
    pub serve: bool,
    /// Options for Datasette, like -- --port 8080 --open
    #[arg(last = true, requires = "serve", value_name = "OPTION")]
    pub options: Vec<String>,
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

#[derive(Debug, Args)]
pub struct QueryArguments {
    /// A question; `cc-etl query` lists them
    #[arg(value_name = "QUESTION", conflicts_with = "sql")]
    pub name: Option<String>,
    /// A question in SQL
    #[arg(long, value_name = "TEXT")]
    pub sql: Option<String>,
    /// The value of a parameter; may be given several times
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = parameter)]
    pub parameters: Vec<(String, String)>,
    /// How to print the answer
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// Leave CSV cells as they are, also those that a spreadsheet would take for a formula
    #[arg(long)]
    pub csv_raw: bool,
    /// Rows to print; default: 1000 in a table, else all
    #[arg(long, value_name = "N")]
    pub rows: Option<usize>,
    /// Seconds that the answer may take
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    pub timeout: u64,
}

fn parameter(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("give it as name=value")?;
    Ok((name.trim_start_matches(':').to_string(), value.to_string()))
}

#[derive(Debug, Args)]
pub struct SearchArguments {
    /// What to look for: words, "a phrase", pre*, one AND two, one OR two, one NOT two
    #[arg(required = true, value_name = "WORDS")]
    pub words: Vec<String>,
    /// Only in projects with this name or path, or a part of it
    #[arg(long, value_name = "NAME")]
    pub project: Option<String>,
    /// Only from this day on
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub since: Option<String>,
    /// Only up to this day
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub until: Option<String>,
    /// Only what was said by one
    #[arg(long, value_enum)]
    pub role: Option<SearchRole>,
    /// Only commands of this tool
    #[arg(long, value_name = "TOOL")]
    pub tool: Option<String>,
    /// Matches to show
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub limit: usize,
    /// How to print them
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum SearchRole {
    /// What the person said
    You,
    /// Answers
    Claude,
    /// Thinking
    Thinking,
    /// Commands of tools
    Command,
    /// Outputs of tools, where they are indexed
    Result,
}

impl SearchRole {
    /// The name in the statement.
    pub fn name(self) -> &'static str {
        match self {
            SearchRole::You => "you",
            SearchRole::Claude => "claude",
            SearchRole::Thinking => "thinking",
            SearchRole::Command => "command",
            SearchRole::Result => "result",
        }
    }
}

#[derive(Debug, Args)]
pub struct ShowArguments {
    /// The start of a session's id
    #[arg(value_name = "SESSION")]
    pub session: Option<String>,
    /// The session that was last at work
    #[arg(long, conflicts_with = "session")]
    pub last: bool,
    /// How to print it
    #[arg(long, value_enum, default_value_t = ShowFormat::Markdown)]
    pub format: ShowFormat,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum ShowFormat {
    /// To be read; tools are folded
    Markdown,
    /// For programs
    Json,
}
