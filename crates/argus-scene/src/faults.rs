//! Faults to inject, as people ask for them: `TASK:KIND`, with the task named as in every command.

use argus_abi::RuntimeKind;
use argus_facts::{Graph, SelectorError, TaskInfo, TaskSelector};
use argus_runtime::{Injection, InjectionError};

use crate::graph::graph;
use crate::play::PlayError;
use crate::scene::Case;

/// A fault that cannot be injected.
#[derive(Debug, thiserror::Error)]
pub enum FaultError {
    #[error(transparent)]
    Injection(#[from] InjectionError),
    #[error(transparent)]
    Selector(#[from] SelectorError),
    #[error("'{text}' names {found} tasks; a fault is injected into one")]
    NotOneTask { text: String, found: usize },
    #[error("the tasks that faults are to be injected into cannot be counted")]
    Graph(#[source] PlayError),
}

/// The faults of a run of this case. Numbers count tasks in the order of their ids, which only the graph tells, so the
/// orchestration is run once for it. A kernel that has no such task is left for the run to report.
pub fn injections(texts: &[String], case: &Case, runtime: RuntimeKind) -> Result<Vec<Injection>, FaultError> {
    if texts.is_empty() {
        return Ok(Vec::new());
    }
    let asked = texts.iter().map(|text| Asked::parse(text)).collect::<Result<Vec<_>, _>>()?;
    let graph = graph(case, runtime).map_err(FaultError::Graph)?;
    asked.into_iter().map(|asked| asked.injection(&graph)).collect()
}

enum Asked {
    OfKernel(Injection),
    /// A task by its id or number, and what to do to it.
    Task(TaskSelector, String),
}

impl Asked {
    fn parse(text: &str) -> Result<Asked, InjectionError> {
        if let Some((task, _)) = text.rsplit_once(':')
            && let Some(
                selector @ (TaskSelector::Ids(_) | TaskSelector::Prefix(_) | TaskSelector::Numbers(_)),
            ) = TaskSelector::parse(task)
        {
            return Ok(Asked::Task(selector, text.to_owned()));
        }
        text.parse().map(Asked::OfKernel)
    }

    fn injection(self, graph: &Graph) -> Result<Injection, FaultError> {
        match self {
            Asked::OfKernel(injection) => {
                let task = of_kernel(graph, &injection.kernel).nth(injection.nth as usize);
                Ok(Injection { task: task.map(|task| task.id), ..injection })
            }
            Asked::Task(selector, text) => {
                let task = only_task(graph, &selector, &text)?;
                let kernel = task.func_ids.iter().find_map(|&id| graph.kernel(id));
                let kernel = kernel.map_or_else(String::new, |kernel| kernel.name.to_string());
                let nth = of_kernel(graph, &kernel).take_while(|other| other.id < task.id).count();
                let (_, kind) = text.rsplit_once(':').unwrap_or_default();
                let injection: Injection = format!("{kernel}:{nth}:{kind}").parse()?;
                Ok(Injection { task: Some(task.id), ..injection })
            }
        }
    }
}

fn of_kernel<'a>(graph: &'a Graph, name: &'a str) -> impl Iterator<Item = &'a TaskInfo> {
    graph.running().filter(move |task| graph.runs(task, name))
}

fn only_task<'a>(graph: &'a Graph, selector: &TaskSelector, text: &str) -> Result<&'a TaskInfo, FaultError> {
    let resolved = graph.resolve(selector)?;
    let meant: Vec<&TaskInfo> = graph.running().filter(|task| resolved.holds(task.id)).collect();
    match meant[..] {
        [task] => Ok(task),
        _ => Err(FaultError::NotOneTask { text: text.to_owned(), found: meant.len() }),
    }
}
