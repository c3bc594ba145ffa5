//! `cc-etl schema`: prints the schema of a new database, as SQL or Markdown.

use super::print;
use crate::cli::{SchemaArguments, SchemaFormat};
use crate::database::{SCHEMA, VIEWS};
use crate::error::Result;
use crate::schema_page;

pub fn run(arguments: &SchemaArguments) -> Result<()> {
    match arguments.format {
        SchemaFormat::Sql => {
            print(SCHEMA)?;
            for (_, view) in VIEWS {
                print(view)?;
            }
            Ok(())
        }
        SchemaFormat::Markdown => print(schema_page::markdown().trim_end()),
    }
}
