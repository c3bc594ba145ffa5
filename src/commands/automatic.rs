//! What starts a sync by itself, and how the last one ended: for `status`, `doctor` and the overview.

use super::sync::background::{self, LastRun};
use super::sync::watch;
use super::{hook, service, status};
use serde_json::{Value as Json, json};
use std::path::Path;

pub struct Automatic {
    /// What starts a sync of the database.
    pub starts: Vec<String>,
    /// The last sync in the background; none if there was none.
    pub last_run: Option<LastRun>,
}

impl Automatic {
    pub fn of(database: &Path) -> Automatic {
        let watch = watch::is_running(database).then(|| "cc-etl sync --watch".to_string());
        let hooks = hook::homes_of(database).into_iter();
        let hooks = hooks.map(|home| format!("hooks in {}", home.display()));
        let services = service::schedulers_of(database).into_iter();
        Automatic {
            starts: watch
                .into_iter()
                .chain(hooks)
                .chain(services.map(|name| format!("a {name}")))
                .collect(),
            last_run: background::last_run(database),
        }
    }

    /// What starts a sync, and when the last one ended.
    pub fn sentence(&self) -> String {
        let starts = match self.starts.as_slice() {
            [] => "nothing starts a sync by itself; cc-etl hook install or cc-etl service install changes that".to_string(),
            starts => format!("a sync is started by {}", starts.join(", ")),
        };
        match &self.last_run {
            Some(run) => format!("{starts}; {}", run.sentence()),
            None => starts,
        }
    }

    pub fn json(&self) -> Json {
        let last_run = self.last_run.as_ref();
        json!({
            "started_by": self.starts,
            "last_background_sync_at": last_run.map(|run| &run.time),
            "last_background_sync": last_run.map(|run| &run.end),
        })
    }
}

impl LastRun {
    /// How it ended, and how long ago.
    pub fn sentence(&self) -> String {
        let ago = status::age(&self.time).unwrap_or_else(|| format!("at {}", self.time));
        match self.end.as_str() {
            background::DONE => format!("the last background sync ended {ago}"),
            background::RUNNING => format!("a background sync began {ago}, and is running"),
            background::STARTED => format!("the background sync that began {ago} did not finish"),
            failed => format!("the background sync that ended {ago} {failed}"),
        }
    }
}
