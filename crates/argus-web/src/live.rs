//! Runs that are still going on: read again as they grow.

use std::sync::Arc;
use std::time::Duration;

use argus_dump::journal::is_being_written;
use argus_dump::read::Ending;
use serde_json::json;

use crate::answer::{Content, Problem};
use crate::session::{Session, ending};
use crate::shown::Shown;
use crate::{judged, overview};

/// How often files are looked at.
const LOOK: Duration = Duration::from_millis(300);
/// How long a page waits for news.
const WAIT: Duration = Duration::from_secs(10);

/// Whether someone writes the dump right now.
pub fn is_live(shown: &Shown) -> bool {
    matches!(shown.dump().ending(), Ending::Unfinished { .. }) && is_being_written(shown.dump().directory())
}

/// Length of the journal and of what is written in the end: they change when there is news.
fn sizes(shown: &Shown) -> Vec<Option<u64>> {
    let files = [argus_dump::JOURNAL_FILE, argus_dump::MANIFEST_FILE, argus_dump::RUN_FILE];
    let size = |name: &str| Some(std::fs::metadata(shown.dump().directory().join(name)).ok()?.len());
    files.iter().map(|name| size(name)).collect()
}

/// Reads dumps that grow again, and judges those that do not, as long as the server runs.
pub async fn watch(session: Arc<Session>) {
    let mut before: Vec<Option<Vec<Option<u64>>>> = vec![None; session.dumps().len()];
    loop {
        for (number, last) in before.iter_mut().enumerate() {
            let asked = Arc::clone(&session);
            let known = last.take();
            let looked = tokio::task::spawn_blocking(move || look(&asked, number, known)).await;
            *last = looked.unwrap_or(None);
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Looks at one dump. What its files are like now.
fn look(session: &Arc<Session>, number: usize, before: Option<Vec<Option<u64>>>) -> Option<Vec<Option<u64>>> {
    let served = session.dumps().get(number)?;
    let shown = served.shown()?;
    let now = sizes(&shown);
    let unfinished = matches!(shown.dump().ending(), Ending::Unfinished { .. });
    // The last files of a run follow the last entry of its journal.
    let written = is_being_written(shown.dump().directory());
    let changed = match &before {
        Some(before) => *before != now,
        // It may have grown between its opening and this first look.
        None => unfinished || written,
    };
    if changed {
        served.reopen();
    } else if !written {
        begin(session, number, &shown);
    }
    Some(now)
}

/// Starts what is computed once in the background.
fn begin(session: &Arc<Session>, number: usize, shown: &Arc<Shown>) {
    if !shown.judging.claim() {
        return;
    }
    let (session, shown) = (Arc::clone(session), Arc::clone(shown));
    let pool = Arc::clone(&session);
    pool.back.spawn(move || {
        if let Ok(served) = session.served(number) {
            judged::judge(&session, served, &shown);
            overview::count(&session, served, &shown);
        }
    });
}

/// Answers when something has changed since `from`, or after a while.
pub async fn news(session: &Session, number: usize, from: u64) -> Result<Content, Problem> {
    let served = session.served(number)?;
    let _ = tokio::time::timeout(WAIT, served.changed_since(from)).await;
    let shown = session.shown(number)?;
    Ok(Content::Json(json!({
        "live": is_live(&shown),
        "tasks": shown.tasks.len(),
        "records": shown.dump().len(),
        "ending": ending(shown.dump().ending()),
        "generation": served.generation(),
    })))
}
