//! Reads files again that were replaced while they were read: what they hold now is another version.

use super::report::Report;
use super::update_files;
use crate::discover::{Discovery, SourceFile};
use crate::error::{Problem, Result};
use crate::file_diff::KnownFiles;
use crate::import::{Importer, Input};
use crate::load::Loader;
use crate::store::Statements;
use std::collections::BTreeMap;
use std::sync::Arc;

/// After this many attempts, a file that is still changing is left to the next sync.
const ATTEMPTS: usize = 3;

pub fn import(
    importer: &Importer<'_>,
    mut replaced: Vec<Arc<Input>>,
    loader: &mut Loader<Statements<'_>>,
    report: &mut Report,
) -> Result<()> {
    for _ in 0..ATTEMPTS {
        if replaced.is_empty() || importer.stop.is_requested() {
            return Ok(());
        }
        replaced = import_once(importer, &replaced, loader, report)?;
    }
    let left = replaced.iter().map(|input| {
        let message = "it keeps changing while it is read; the next sync reads it";
        Problem::new(&input.name, message)
    });
    report.problems.extend(left);
    Ok(())
}

/// Returns the files that were replaced again.
fn import_once(
    importer: &Importer<'_>,
    replaced: &[Arc<Input>],
    loader: &mut Loader<Statements<'_>>,
    report: &mut Report,
) -> Result<Vec<Arc<Input>>> {
    // The comparison needs the rows of the parts read before.
    loader.begin()?;
    loader.close_file()?;
    let connection = loader.connection();
    let mut known = KnownFiles::read(connection)?;
    let mut files = Vec::new();
    for (source_id, home) in by_home(replaced) {
        let mut changes = known.compare(connection, source_id, &home, false)?;
        report.problems.append(&mut changes.problems);
        report.rewritten_files += changes.rewritten().count();
        files.append(&mut changes.files);
        update_files(loader, &[changes], report)?;
    }
    let imported = importer.import_files(files, loader)?;
    Ok(report.note_problems(imported).replaced)
}

fn by_home(replaced: &[Arc<Input>]) -> BTreeMap<i64, Discovery> {
    let mut homes: BTreeMap<i64, Discovery> = BTreeMap::new();
    for input in replaced {
        let version = &input.version;
        let home = homes.entry(version.source_id).or_default();
        home.files.push(SourceFile {
            absolute: input.name.clone(),
            path: version.path.clone(),
            path_bytes: version.path_bytes.clone(),
            stat: version.stat.expect("it was read from a home"),
        });
    }
    homes
}
