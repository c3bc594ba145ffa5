//! The command line: every option and its help.

use crate::export::profile::Detail;
use crate::format::Format;
use crate::service::{Interval, Scheduler};
use crate::terminal::{self, Color};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

/// Import the history of Claude Code (~/.claude) into one SQLite file
///
/// Claude Code deletes transcripts after 30 days. cc-etl keeps a compressed archive of their bytes, and tables that
/// sqlite3, Datasette and BI tools read. Without a command, it imports what is new and shows the last days.
#[derive(Debug, Parser)]
#[command(
    version,
    max_term_width = 100,
    after_help = "Examples:
  cc-etl                           import what is new, and show the last days
  cc-etl sync                      import new transcripts
  cc-etl query                     list the questions
  cc-etl search 'retry policy'     search prompts and responses
  cc-etl sql                       open the database in sqlite3
  cc-etl --demo query              try any command on the demo

Exit codes:
  0   done
  1   a check failed, something is at risk, or some input could not be read; the rest was done
  2   wrong arguments, or a wrong SQL statement
  3   a budget is exceeded, by budget check
  65  lines were rejected, with --strict
  66  there is no Claude home or no database to read
  74  the database or a file cannot be written or read
  75  another sync is running
  78  the database is newer than the program, or is not one of cc-etl"
)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Without a command: print JSON
    #[arg(long)]
    pub json: bool,
}

/// Options of every command.
#[derive(Debug, Clone, Args)]
pub struct Global {
    /// Database file; default: cc-etl/cc-etl.db in your data folder, such as ~/.local/share
    #[arg(long, global = true, value_name = "FILE", env = "CC_ETL_DB")]
    pub db: Option<PathBuf>,
    /// Use the demo, which has a database of its own and is created if it is missing
    #[arg(long, global = true)]
    pub demo: bool,
    /// Print only errors and requested output
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Use colour and emphasis
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    pub color: Color,
    /// Print long output at once; else $PAGER shows it, or less
    #[arg(long, global = true)]
    pub no_pager: bool,
}

/// How a command prints rows.
#[derive(Debug, Args)]
pub struct OutputArguments {
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// Print JSON; the same as --format json
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
    /// Show all columns of a table in full, however wide it becomes
    #[arg(long)]
    pub wide: bool,
    /// Fit tables into this many columns; default: the width of the terminal
    #[arg(long, value_name = "COLUMNS", conflicts_with = "wide", value_parser = clap::value_parser!(u16).range(20..))]
    pub width: Option<u16>,
}

impl OutputArguments {
    pub fn format(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }

    /// The width of tables; none if it is not limited.
    pub fn table_width(&self) -> Option<usize> {
        match (self.wide, self.width) {
            (true, _) => None,
            (false, Some(width)) => Some(usize::from(width)),
            (false, None) => terminal::size().map(|(width, _)| width),
        }
    }
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Import new transcripts
    Sync(SyncArguments),
    /// Let Claude Code start a sync after each response and at the end of a session
    ///
    /// The hooks are in settings.json of a Claude home. Everything else in it stays as it is, byte for byte.
    #[command(
        subcommand,
        after_help = "Examples:
  cc-etl hook install --dry-run
  cc-etl hook install"
    )]
    Hook(HookCommand),
    /// Let the operating system start a sync every few minutes
    ///
    /// With a timer of systemd, a launch agent of macOS, a line in the crontab, or a task of Windows.
    #[command(
        subcommand,
        after_help = "Examples:
  cc-etl service install --dry-run
  cc-etl service install --every 1h
  cc-etl service install --using launchd --dry-run    what another system would get"
    )]
    Service(ServiceCommand),
    /// Write files back from the archive, byte for byte
    Restore(RestoreArguments),
    /// Copy the database, also during a sync
    ///
    /// With --tables-only the copy has no views, no triggers and no search index. DuckDB and dbt cannot list the tables of a database
    /// with views of SQLite's dialect and FTS5 tables. Other programs read the copy; cc-etl does not, since it is no backup.
    #[command(after_help = "Examples:
  cc-etl backup copy.db
  cc-etl backup tables.db --tables-only --overwrite")]
    Backup(BackupArguments),
    /// Write facts and dimensions for other engines: DuckDB, ClickHouse, Spark, PostgreSQL, data lakes
    ///
    /// They are typed, with costs and classes already computed, and --profile says how much they show.
    ///
    /// Parquet files are written by month and machine, with a manifest per machine; exporting again replaces only those that differ, and
    /// several machines may export to one folder. The script for psql is one transaction that replaces the rows of this database's
    /// machines, and several machines may load at once. A SQLite database has the same tables, and nothing else of this one. CSV and
    /// JSON Lines have one data set, or any table, view or question.
    #[command(after_help = "Examples:
  cc-etl export --format parquet --out metrics
  cc-etl export --format postgres | psql --no-psqlrc --dbname postgresql://server/team
  cc-etl export --format sqlite --profile redacted --out shared.db
  cc-etl export fact_response --format csv --out responses.csv
  cc-etl export daily_costs --format jsonl --profile full
  cc-etl export expensive_days since=30d --format csv --profile full")]
    Export(ExportArguments),
    /// Import the archives of other databases, such as those of other machines
    ///
    /// The result is the same as if this database had synced their homes, in any order. The other databases are only read.
    #[command(after_help = "Example:
  cc-etl merge laptop.db desktop.db --db all.db")]
    Merge(MergeArguments),
    /// Rebuild all tables from the archive
    Rebuild,
    /// Verify the database
    ///
    /// Only reads, and never repairs. Exits with 1 if a check fails.
    Check(CheckArguments),
    /// Summarize the database and what is not imported yet
    Status(ReportArguments),
    /// Diagnose risks and suggest fixes
    ///
    /// Exits with 1 if something is at risk.
    Doctor(ReportArguments),
    /// Cost and tokens per day
    #[command(after_help = "Example:
  cc-etl daily --since 7d --project tea-shop")]
    Daily(QuestionArguments),
    /// Cost and tokens per week
    Weekly(QuestionArguments),
    /// Cost and tokens per month
    Monthly(QuestionArguments),
    /// The latest sessions: what they were about, how long they were, and what they cost
    Sessions(QuestionArguments),
    /// Cost and tokens per project
    Projects(QuestionArguments),
    /// Cost and tokens per model
    Models(QuestionArguments),
    /// Blocks of five hours, as limits count them: the active one with its burn rate and projection
    ///
    /// The blocks are those of ccusage.
    #[command(after_help = "Examples:
  cc-etl blocks --active
  cc-etl blocks --recent --json")]
    Blocks(BlocksArguments),
    /// Print one line for Claude Code's status line, from its JSON on standard input and the database
    ///
    /// Model, cost of the session and of today, the active block of five hours, context, limits of the account, and exceeded budgets.
    /// What is not known is left out. It also records the limits: see the view limit_usage.
    #[command(after_help = "Example:
  cc-etl hook install --statusline")]
    Statusline,
    /// Limits for what a day, a week or a month may cost: what is spent, and what it will be at the end
    ///
    /// Costs are list prices in US dollars. Days are local, and weeks begin on Monday.
    #[command(after_help = "Examples:
  cc-etl budget
  cc-etl budget set 200 --per month
  cc-etl budget set 15 --per day --project tea-shop
  cc-etl budget check || echo 'over budget'")]
    Budget(BudgetArguments),
    /// What could be saved: waste with its cost, an example of each, and commands that are safe to allow
    ///
    /// Findings are ranked by what they cost; then those without a known cost by their number. Every finding names the question that
    /// shows all of it.
    #[command(after_help = "Example:
  cc-etl advise --since 30d --project tea-shop")]
    Advise(QuestionArguments),
    /// Run a question, or a read-only SQL statement
    ///
    /// Without arguments it lists the questions; with the name of a group it explains those of the group. Your own questions are
    /// .sql files in the folder queries next to the default database, with the header that --show-sql prints.
    #[command(after_help = "Examples:
  cc-etl query cost
  cc-etl query expensive_sessions since='last month' limit=5
  cc-etl query --sql 'select * from daily_costs' --format csv
  cc-etl query expensive_days --show-sql > mine.sql; cc-etl query mine.sql")]
    Query(QueryArguments),
    /// Full-text search over everything that was said: prompts, responses, thinking, tool inputs, titles
    #[command(after_help = "Examples:
  cc-etl search retry policy
  cc-etl search '\"exact phrase\" OR prefix*' --role you --since 2026-01-31")]
    Search(SearchArguments),
    /// Read a session: in the terminal, as an HTML page, Markdown or JSON
    #[command(after_help = "Examples:
  cc-etl show --last --no-thinking
  cc-etl show 5e550013 --tools full
  cc-etl show \"Reviews for teas\" --format html --out session.html")]
    Show(ShowArguments),
    /// List, import or check model prices
    Prices(PricesArguments),
    /// List the settings of the database, or change one
    #[command(after_help = "Examples:
  cc-etl config
  cc-etl config time-zone Europe/Berlin")]
    Config(ConfigArguments),
    /// Browse the database in Datasette
    #[command(
        after_help = "Datasette is started if it is installed, else by uvx. It ends with cc-etl.

Examples:
  cc-etl datasette -- --open
  cc-etl datasette --out site --serve -- --port 8080"
    )]
    Datasette(DatasetteArguments),
    /// Write a report: one HTML page with charts, their tables and their SQL
    #[command(after_help = "Example:
  cc-etl report --since 30d --out report.html")]
    Report(PageArguments),
    /// Serve the database to Claude Code and other clients of the Model Context Protocol, for reading only
    ///
    /// Without a command, it serves on standard input and output.
    #[command(after_help = "Examples:
  cc-etl mcp install --dry-run
  cc-etl mcp install")]
    Mcp(McpArguments),
    /// Print the path of the database
    Path,
    /// Open the database in sqlite3, for reading only
    #[command(after_help = "Examples:
  cc-etl sql
  cc-etl sql -- -box 'select * from daily_costs limit 10'")]
    Sql(SqlArguments),
    /// Print the schema
    Schema(SchemaArguments),
    /// Print completions of commands and options for a shell
    #[command(after_help = "Examples:
  cc-etl completions bash > ~/.local/share/bash-completion/completions/cc-etl
  cc-etl completions zsh > ~/.zfunc/_cc-etl
  cc-etl completions fish > ~/.config/fish/completions/cc-etl.fish")]
    Completions(CompletionsArguments),
    /// Print a manual page
    #[command(after_help = "Examples:
  cc-etl man sync | man -l -
  cc-etl man --out ~/.local/share/man/man1")]
    Man(ManArguments),
}

#[derive(Debug, Default, Args)]
pub struct SyncArguments {
    /// Claude home; repeatable. Default: CLAUDE_CONFIG_DIR, else ~/.claude, and the homes of Cowork and Xcode
    #[arg(long, value_name = "DIR")]
    pub source: Vec<PathBuf>,
    /// Name of this machine in the database; default: its host name
    #[arg(long, value_name = "NAME")]
    pub machine: Option<String>,
    /// Import only this transcript
    #[arg(long, value_name = "TRANSCRIPT", conflicts_with = "source")]
    pub file: Option<PathBuf>,
    /// Index tool results for search too, in this and later syncs; the index grows several times
    #[arg(long)]
    pub index_tool_output: bool,
    /// Threads to use; default: one per core
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
    /// Wait for another sync, at most this many seconds if given; default: exit with 75
    #[arg(long, value_name = "SECONDS")]
    pub wait: Option<Option<u64>>,
    /// Return at once, and sync in the background, after a running sync; doctor reports a failure
    #[arg(long, conflicts_with_all = ["wait", "json"])]
    pub detach: bool,
    /// Stay, and sync within seconds whenever a transcript has new lines, until it is interrupted
    #[arg(long, conflicts_with_all = ["wait", "json", "detach", "in_background", "file", "strict", "index_tool_output"])]
    pub watch: bool,
    /// This is the process in the background
    #[arg(long, hide = true, conflicts_with = "detach")]
    pub in_background: bool,
    /// Exit with 65 if a line was rejected
    #[arg(long)]
    pub strict: bool,
    /// Print the summary as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub enum HookCommand {
    /// Add the hooks, or update them
    ///
    /// A copy of the file as it was is kept beside it, as settings.json.cc-etl-backup. Sessions that begin later use the hooks.
    Install(HookInstall),
    /// Remove the hooks and the status line
    Remove(HookEdit),
    /// Say whether the hooks are installed
    Status(HookArguments),
}

#[derive(Debug, Args)]
pub struct HookInstall {
    #[command(flatten)]
    pub edit: HookEdit,
    /// Set the status line too, to cc-etl statusline, unless there is another one
    #[arg(long)]
    pub statusline: bool,
    /// Set the status line, also in place of another one, which only the copy of the file keeps
    #[arg(long)]
    pub replace_statusline: bool,
}

#[derive(Debug, Args)]
pub struct HookEdit {
    #[command(flatten)]
    pub homes: HookArguments,
    /// Print the changes, and write nothing
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, Args)]
pub struct HookArguments {
    /// Claude home; repeatable. Default: CLAUDE_CONFIG_DIR, else ~/.claude
    #[arg(long, value_name = "DIR")]
    pub config_dir: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub struct McpArguments {
    #[command(subcommand)]
    pub command: Option<McpCommand>,
}

#[derive(Debug, Subcommand)]
pub enum McpCommand {
    /// Make the server known to Claude Code, as history
    ///
    /// By claude mcp add if claude is installed, else in its file, of which a copy is kept beside it. Sessions that begin later use it.
    Install(McpEdit),
    /// Remove the server, and nothing else
    Remove(McpEdit),
    /// Say where the server is installed
    Status,
}

#[derive(Debug, Args)]
pub struct McpEdit {
    /// Who uses it: you in all projects, everybody in this project by its .mcp.json, or you in this project
    #[arg(long, value_enum, default_value_t = McpScope::User)]
    pub scope: McpScope,
    /// Print the changes, and write nothing
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum McpScope {
    User,
    Project,
    Local,
}

impl McpScope {
    /// As `claude mcp add --scope` takes it.
    pub fn name(self) -> &'static str {
        match self {
            McpScope::User => "user",
            McpScope::Project => "project",
            McpScope::Local => "local",
        }
    }
}

#[derive(Debug, Subcommand)]
pub enum ServiceCommand {
    /// Start a sync every few minutes, or change how often; prints what it writes
    Install(ServiceInstall),
    /// Remove what install added, and nothing else
    Remove {
        /// Print what would be removed, and change nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Say what is installed, and whether it runs
    Status,
}

#[derive(Debug, Args)]
pub struct ServiceInstall {
    /// Time between two syncs, in minutes or hours: 15m, 2h, at most 1d
    #[arg(long, value_name = "TIME", default_value = "15m")]
    pub every: Interval,
    /// Scheduler to use; default: that of this system, and cron where a user has no systemd
    #[arg(long, value_enum, value_name = "SCHEDULER")]
    pub using: Option<Scheduler>,
    /// Claude home; repeatable. Default: CLAUDE_CONFIG_DIR as it is now, else those that exist at each sync
    #[arg(long, value_name = "DIR")]
    pub source: Vec<PathBuf>,
    /// Print what would be written, and change nothing
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, Args)]
pub struct RestoreArguments {
    /// Sessions to restore, by id or prefix, with their sub-agents; default: everything
    #[arg(value_name = "SESSION")]
    pub sessions: Vec<String>,
    /// Folder to write to; existing files are never overwritten, and those with the same content are skipped
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Restore older versions of rewritten files too, as NAME.version-N
    #[arg(long)]
    pub all_versions: bool,
}

#[derive(Debug, Args)]
pub struct BackupArguments {
    /// File to write
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    pub overwrite: bool,
    /// Leave out views, triggers and the search index: for DuckDB and dbt, which cannot list a database that has them
    #[arg(long)]
    pub tables_only: bool,
}

#[derive(Debug, Args)]
pub struct ExportArguments {
    /// For csv and jsonl: a data set, which has the columns of the profile, or a question, view or table, which needs --profile full
    #[arg(value_name = "WHAT")]
    pub what: Option<String>,
    /// Values of parameters of a question
    #[arg(value_name = "NAME=VALUE", requires = "what", value_parser = parameter)]
    pub values: Vec<(String, String)>,
    /// Output format
    #[arg(long, value_enum)]
    pub format: ExportFormat,
    /// File to write to, or folder for parquet; default: standard output
    #[arg(long, value_name = "PATH")]
    pub out: Option<PathBuf>,
    /// How much to show
    #[arg(long, value_enum, default_value_t = Detail::Metrics)]
    pub profile: Detail,
    /// Do not hash the names of projects, branches, machines, agent types, skills and commands
    #[arg(long)]
    pub names: bool,
    /// Key of the hashes, which a team shares; created if it is missing. Default: export-key in the folder of the default database
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// Do not quote CSV cells that a spreadsheet would run as a formula
    #[arg(long)]
    pub csv_raw: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// A folder of Parquet files
    Parquet,
    /// A script for psql
    Postgres,
    /// A database with the same tables
    Sqlite,
    /// Comma-separated, with a header
    Csv,
    /// One object per line
    Jsonl,
}

#[derive(Debug, Args)]
pub struct MergeArguments {
    /// Databases to read
    #[arg(value_name = "OTHER.db", required = true)]
    pub databases: Vec<PathBuf>,
    /// Threads to use; default: one per core
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
    /// Wait for a running sync, at most this many seconds if given; default: exit with 75
    #[arg(long, value_name = "SECONDS")]
    pub wait: Option<Option<u64>>,
    /// Print the summary as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct CheckArguments {
    /// Print a hash of each table; databases with the same content have the same hashes
    #[arg(long)]
    pub hash: bool,
    /// Rebuild a copy of the database from the archive and compare; takes as long as a rebuild
    #[arg(long, conflicts_with = "hash")]
    pub deep: bool,
    /// Compare the archive with the files on disk, byte for byte
    #[arg(long, conflicts_with = "hash")]
    pub sources: bool,
    /// Print the findings as JSON
    #[arg(long, conflicts_with = "hash")]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ReportArguments {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct DatasetteArguments {
    /// Write the configuration to this folder, to keep it; print the command that starts Datasette
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Start Datasette; the default without --out
    #[arg(long)]
    pub serve: bool,
    /// Options for Datasette
    #[arg(last = true, value_name = "OPTION")]
    pub options: Vec<String>,
}

#[derive(Debug, Args)]
pub struct CompletionsArguments {
    #[arg(value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub struct ManArguments {
    /// Command to describe; default: cc-etl itself
    #[arg(value_name = "COMMAND")]
    pub command: Vec<String>,
    /// Write the pages of all commands to this folder
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct SchemaArguments {
    /// Output format
    #[arg(long, value_enum, default_value_t = SchemaFormat::Sql)]
    pub format: SchemaFormat,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum SchemaFormat {
    /// Create statements with their comments
    Sql,
    /// A page of tables, columns and views, with diagrams
    Markdown,
}

/// The options of a list.
#[derive(Debug, Args)]
pub struct ListArguments {
    #[command(flatten)]
    pub output: OutputArguments,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct PricesArguments {
    #[command(subcommand)]
    pub command: Option<PricesCommand>,
    #[command(flatten)]
    pub list: ListArguments,
}

#[derive(Debug, Subcommand)]
pub enum PricesCommand {
    /// List all prices; imported prices override built-in ones
    List(ListArguments),
    /// Add or override prices from a file; the cost views use them at once
    ///
    /// The file is CSV with a header or a JSON array of objects, with the columns of `prices list --format csv`: USD per
    /// million tokens. Rates that are missing are derived from the built-in price of the model, in proportion to input_usd; for other
    /// models input_usd and output_usd are required, and cache writes cost 1.25 (5 minutes) and 2 times (1 hour) the input price,
    /// cache reads a tenth. Without valid_from a price is valid for all time.
    /// LiteLLM's model_prices JSON file is read unchanged, and its prices are valid from today.
    Import(PricesImportArguments),
    /// List models in the database that have no price, or one that was last checked long before they were used
    Check(ListArguments),
}

#[derive(Debug, Args)]
pub struct PricesImportArguments {
    /// CSV, JSON or LiteLLM's price file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// First day on which prices without a valid_from are valid
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub valid_from: Option<String>,
}

#[derive(Debug, Args)]
pub struct ConfigArguments {
    /// Setting to print or to change; default: list all
    #[command(subcommand)]
    pub setting: Option<Setting>,
}

#[derive(Debug, Subcommand)]
pub enum Setting {
    /// Time zone of days, hours and printed times
    ///
    /// The first sync takes the zone of the system. Days and hours in views and tables change at once, without an import.
    TimeZone {
        /// A name of the tz database, such as Europe/Berlin, or UTC; default: print the current one
        #[arg(value_name = "ZONE")]
        zone: Option<String>,
    },
}

#[derive(Debug, Args)]
pub struct QueryArguments {
    /// Name of a question, of a group of questions, or of a .sql file
    #[arg(value_name = "QUESTION", conflicts_with = "sql")]
    pub name: Option<String>,
    /// Values of parameters
    #[arg(value_name = "NAME=VALUE", requires = "name", value_parser = parameter)]
    pub values: Vec<(String, String)>,
    /// SQL statement to run; - reads it from standard input
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub sql: Option<String>,
    /// Bind a parameter, also of --sql; repeatable
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = parameter)]
    pub parameters: Vec<(String, String)>,
    /// Print at most this many rows; default: what the question says, 1000 in a table, else all
    #[arg(long, value_name = "N", alias = "rows")]
    pub limit: Option<usize>,
    #[command(flatten)]
    pub output: OutputArguments,
    /// Do not quote CSV cells that a spreadsheet would run as a formula
    #[arg(long)]
    pub csv_raw: bool,
    /// Print the SQL of the question
    #[arg(long)]
    pub show_sql: bool,
    /// Cancel the query after this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    pub timeout: u64,
}

/// The options of the questions that are commands.
#[derive(Debug, Args)]
pub struct QuestionArguments {
    /// Only this day and later: 2026-11-03, yesterday, 7d, 2026-W46, last month
    #[arg(long, value_name = "DATE")]
    pub since: Option<String>,
    /// Only this day and earlier
    #[arg(long, value_name = "DATE")]
    pub until: Option<String>,
    /// Only projects whose name contains this
    #[arg(long, value_name = "NAME")]
    pub project: Option<String>,
    /// Print at most this many rows
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    #[command(flatten)]
    pub output: OutputArguments,
}

#[derive(Debug, Args)]
pub struct BlocksArguments {
    /// Only the active block
    #[arg(long)]
    pub active: bool,
    /// Only the last three days; the same as --since 3d
    #[arg(long, conflicts_with = "since")]
    pub recent: bool,
    /// Only blocks that began on this day and later: 2026-11-03, yesterday, 7d, 2026-W46, last month
    #[arg(long, value_name = "DATE")]
    pub since: Option<String>,
    /// Only blocks that began on this day and earlier
    #[arg(long, value_name = "DATE")]
    pub until: Option<String>,
    /// Print at most this many rows
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    #[command(flatten)]
    pub output: OutputArguments,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct BudgetArguments {
    #[command(subcommand)]
    pub command: Option<BudgetCommand>,
    #[command(flatten)]
    pub list: ListArguments,
}

#[derive(Debug, Subcommand)]
pub enum BudgetCommand {
    /// Add a budget, or change its limit
    Set(BudgetSetArguments),
    /// List the budgets with what is spent of them
    List(ListArguments),
    /// List the budgets, and exit with 3 if one is exceeded
    ///
    /// A budget that is ahead will be exceeded at the end of its period if it goes on like this; that is no error.
    Check(ListArguments),
    /// Remove a budget
    Remove(BudgetKey),
}

#[derive(Debug, Args)]
pub struct BudgetSetArguments {
    /// Limit in US dollars
    #[arg(value_name = "USD", value_parser = usd)]
    pub limit: f64,
    #[command(flatten)]
    pub budget: BudgetKey,
}

#[derive(Debug, Args)]
pub struct BudgetKey {
    /// Period of the budget
    #[arg(long, value_enum, value_name = "PERIOD")]
    pub per: Period,
    /// Only this project, by its name or a part of it; default: all projects together
    #[arg(long, value_name = "NAME")]
    pub project: Option<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Period {
    Day,
    Week,
    Month,
}

impl Period {
    /// The name in the table `budgets`.
    pub fn name(self) -> &'static str {
        match self {
            Period::Day => "day",
            Period::Week => "week",
            Period::Month => "month",
        }
    }
}

fn usd(text: &str) -> Result<f64, String> {
    let amount: Option<f64> = text.trim_start_matches('$').parse().ok();
    let is_limit = |amount: &f64| *amount >= 0.01 && *amount <= 1e9;
    amount
        .filter(is_limit)
        .ok_or_else(|| "expected US dollars, such as 200 or 12.50".to_string())
}

fn parameter(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    Ok((name.trim_start_matches(':').to_string(), value.to_string()))
}

#[derive(Debug, Default, Args)]
pub struct SearchArguments {
    /// Words to search for, or an FTS5 query: "a phrase", prefix*, a AND b, a OR b, a NOT b
    #[arg(required = true, value_name = "WORDS")]
    pub words: Vec<String>,
    /// Only projects whose name or path contains this
    #[arg(long, value_name = "NAME")]
    pub project: Option<String>,
    /// Only this day and later: 2026-11-03, yesterday, 7d, 2026-W46, last month
    #[arg(long, value_name = "DATE")]
    pub since: Option<String>,
    /// Only this day and earlier
    #[arg(long, value_name = "DATE")]
    pub until: Option<String>,
    /// Only what one of them said
    #[arg(long, value_enum)]
    pub role: Option<SearchRole>,
    /// Only calls of this tool, and their results
    #[arg(long, value_name = "TOOL")]
    pub tool: Option<String>,
    /// Only calls that failed, their results, and API errors
    #[arg(long)]
    pub error: bool,
    /// Only sub-agents
    #[arg(long)]
    pub sidechain: bool,
    /// Leave out sub-agents
    #[arg(long, conflicts_with = "sidechain")]
    pub no_sidechain: bool,
    /// Show at most this many matches
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub limit: usize,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// Print JSON; the same as --format json
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
}

impl SearchArguments {
    pub fn format(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum SearchRole {
    /// Prompts, also queued ones and those of history.jsonl, replies to questions, reasons for a rejection
    You,
    /// Responses
    Claude,
    /// Thinking
    Thinking,
    /// Inputs of tool calls: commands, paths, patterns, URLs, prompts to sub-agents
    #[value(alias = "command")]
    Input,
    /// Tool results, if indexed
    Result,
    /// Titles of sessions
    Title,
    /// What sub-agents were told
    Agent,
    /// Texts by Claude Code itself
    Program,
}

impl SearchRole {
    /// The kinds of texts, as the view `_search_texts` names them.
    pub fn kinds(self) -> &'static [&'static str] {
        match self {
            SearchRole::You => &["prompt", "queued_prompt", "history", "reply", "rejection"],
            SearchRole::Claude => &["response"],
            SearchRole::Thinking => &["thinking"],
            SearchRole::Input => &["tool_input"],
            SearchRole::Result => &["tool_result"],
            SearchRole::Title => &["title"],
            SearchRole::Agent => &["agent_prompt"],
            SearchRole::Program => &["program"],
        }
    }
}

#[derive(Debug, Args)]
pub struct PageArguments {
    /// Write the page to this file; - is the standard output
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// First day; default: all days
    #[arg(long, value_name = "DATE")]
    pub since: Option<String>,
    /// Last day; default: today
    #[arg(long, value_name = "DATE")]
    pub until: Option<String>,
}

#[derive(Debug, Args)]
pub struct SqlArguments {
    /// Arguments for sqlite3
    #[arg(last = true, value_name = "ARGUMENTS")]
    pub arguments: Vec<OsString>,
}

#[derive(Debug, Args)]
pub struct ShowArguments {
    /// Session id, the beginning of one, or words of its title
    #[arg(value_name = "SESSION")]
    pub session: Option<String>,
    /// Print the session with the latest activity
    #[arg(long, conflicts_with = "session")]
    pub last: bool,
    /// Output format; default: terminal in a terminal, else markdown
    #[arg(long, value_enum)]
    pub format: Option<ShowFormat>,
    /// Print JSON; the same as --format json
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
    /// Leave out thinking
    #[arg(long)]
    pub no_thinking: bool,
    /// Leave out tool calls and sub-agents
    #[arg(long, conflicts_with = "tools")]
    pub no_tools: bool,
    /// How much of tool calls to show in a terminal
    #[arg(long, value_enum, default_value_t = ToolDetail::Short, value_name = "DETAIL")]
    pub tools: ToolDetail,
    /// Write to this file
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ToolDetail {
    /// No calls
    None,
    /// Each call with the first lines of its result
    Short,
    /// Inputs, changes and results
    Full,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum ShowFormat {
    /// For reading in a terminal
    Terminal,
    /// For files; tool calls are collapsed
    Markdown,
    /// One self-contained page to open in a browser or to send
    Html,
    /// For programs
    Json,
}
