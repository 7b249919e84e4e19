//! What a search said of each task, in the words and colours of the page and of `find`.

use argus_abi::TaskId;
use argus_dump::LastVerdict;
use rustc_hash::FxHashMap;

/// What is known of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Clean,
    Introduced,
    Inherited,
    HereOrUpstream,
    Damaged,
    NotJudged,
}

impl Verdict {
    /// From the name that reports have; one that is not known says nothing.
    fn named(name: &str) -> Verdict {
        match name {
            "clean" => Verdict::Clean,
            "introduced" => Verdict::Introduced,
            "inherited" => Verdict::Inherited,
            "here_or_upstream" => Verdict::HereOrUpstream,
            "damaged" => Verdict::Damaged,
            _ => Verdict::NotJudged,
        }
    }

    /// For a line of its own.
    pub const fn words(self) -> &'static str {
        match self {
            Verdict::Clean => "clean",
            Verdict::Introduced => "introduced the error",
            Verdict::Inherited => "inherited the error",
            Verdict::HereOrUpstream => "here or upstream",
            Verdict::Damaged => "damaged",
            Verdict::NotJudged => "not judged",
        }
    }

    /// For a column of [`Verdict::WIDTH`].
    pub const fn short(self) -> &'static str {
        match self {
            Verdict::Clean => "clean",
            Verdict::Introduced => "introduced",
            Verdict::Inherited => "inherited",
            Verdict::HereOrUpstream => "here or up",
            Verdict::Damaged => "damaged",
            Verdict::NotJudged => "not judged",
        }
    }

    pub const WIDTH: usize = 10;

    /// For a column of one.
    pub const fn sign(self) -> char {
        match self {
            Verdict::Clean => ' ',
            Verdict::Introduced | Verdict::HereOrUpstream => '!',
            Verdict::Inherited => '~',
            Verdict::Damaged => 'x',
            Verdict::NotJudged => '?',
        }
    }

    /// Red, green and blue, as on the dark page; clean and not judged are lighter here, where they are letters.
    pub const fn rgb(self) -> (u8, u8, u8) {
        match self {
            Verdict::Clean => (0x6c, 0xc0, 0x8b),
            Verdict::Introduced => (0xf0, 0x47, 0x3d),
            Verdict::Inherited => (0xc0, 0x7f, 0x22),
            Verdict::HereOrUpstream => (0xe8, 0x70, 0x3f),
            Verdict::Damaged => (0x9a, 0x7b, 0xe0),
            Verdict::NotJudged => (0x9b, 0xa5, 0xb0),
        }
    }

    /// Whether an error begins in the task, or may.
    pub const fn is_wrong(self) -> bool {
        matches!(self, Verdict::Introduced | Verdict::HereOrUpstream | Verdict::Damaged)
    }
}

/// What is known of all tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdicts {
    /// Those that are not clean.
    known: FxHashMap<TaskId, Verdict>,
    first: Option<TaskId>,
    /// What the first wrong task's output looks like.
    looks_like: Option<String>,
}

impl Verdicts {
    /// `None` if nothing was said of single tasks.
    pub fn new(last: &LastVerdict) -> Option<Verdicts> {
        let tasks = last.tasks.as_ref()?;
        let known = tasks.iter().flat_map(|(name, ids)| {
            let verdict = Verdict::named(name);
            ids.iter().filter_map(move |id| Some((task_id(id)?, verdict)))
        });
        Some(Verdicts {
            known: known.collect(),
            first: last.task_id.as_deref().and_then(task_id),
            looks_like: last.looks_like.clone(),
        })
    }

    pub fn of(&self, task: TaskId) -> Verdict {
        self.known.get(&task).copied().unwrap_or(Verdict::Clean)
    }

    /// What there is to say of a task that is not clean.
    pub fn sentence(&self, task: TaskId) -> Option<String> {
        let verdict = self.of(task);
        let looks_like = self.looks_like.as_ref().filter(|_| self.first == Some(task));
        let more = looks_like.map_or_else(String::new, |what| format!("; looks like {what}"));
        (verdict != Verdict::Clean).then(|| format!("{}{more}", verdict.words()))
    }
}

/// An id as reports spell it.
fn task_id(text: &str) -> Option<TaskId> {
    u64::from_str_radix(text.strip_prefix("0x")?, 16).ok().map(TaskId::from_raw)
}
