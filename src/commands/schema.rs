//! `cc-etl schema`: prints the schema, as statements or as a page.

use super::print;
use crate::cli::{SchemaArguments, SchemaFormat};
use crate::database::{SCHEMA, VIEWS};
use crate::error::Result;
use crate::schema_page;

/// Prints what a new database would have.
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
