//! `cc-etl path`: prints the path of the database, for scripts and other programs.

use super::{database_path, print};
use crate::cli::Global;
use crate::error::Result;

pub fn run(global: &Global) -> Result<()> {
    print(&database_path(global)?.display().to_string())
}
