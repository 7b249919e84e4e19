//! Two dumps against each other, as `argus find A --against B` compares them.

use std::sync::{Arc, Mutex, PoisonError};

use argus_find::align::Side;
use argus_find::report::report;
use argus_find::search::{Expectation, Options, search_while};
use argus_find::tasks::Tasks;
use serde_json::{Value, json};

use crate::answer::{Answer, Content, Problem};
use crate::session::Session;
use crate::shown::Shown;

/// The comparison that was made last.
#[derive(Default)]
pub struct Compared(Mutex<Option<([u64; 4], Arc<Value>)>>);

/// The object of the command, with the pairs as task numbers of either dump.
pub fn compare(session: &Session, a: usize, b: usize) -> Answer {
    let (one, other) = (session.shown(a)?, session.shown(b)?);
    let generation = |number: usize| session.served(number).map_or(0, |served| served.opened());
    let key = [a as u64, b as u64, generation(a), generation(b)];
    let kept = || session.compared.0.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((known, object)) = &*kept()
        && *known == key
    {
        return Ok(Content::Json(Value::clone(object)));
    }
    let object = session
        .front
        .install(|| find(session, &one, &other))
        .ok_or_else(|| Problem::nothing("the comparison was given up"))?;
    *kept() = Some((key, Arc::new(object.clone())));
    Ok(Content::Json(object))
}

fn find(session: &Session, one: &Shown, other: &Shown) -> Option<Value> {
    let (tasks, others) = (Tasks::new(one.dump(), None), Tasks::new(other.dump(), None));
    let subject = Side { dump: one.dump(), tasks: &tasks };
    let against = Side { dump: other.dump(), tasks: &others };
    let expectation = Expectation::Against(against);
    let findings = search_while(subject, &expectation, Options::default(), |_| match session.is_stopped() {
        true => std::ops::ControlFlow::Break(()),
        false => std::ops::ControlFlow::Continue(()),
    })?;
    let pairs = findings.alignment.iter().flat_map(|alignment| alignment.pairs.iter().enumerate());
    let pairs: Vec<[usize; 2]> = pairs
        .filter_map(|(at, place)| {
            let there = others.get((*place)?).id;
            Some([one.tasks.find(tasks.get(at).id)?, other.tasks.find(there)?])
        })
        .collect();
    let mut object = serde_json::to_value(report(subject, &expectation, findings)).ok()?;
    object["pairs"] = json!(pairs);
    Some(object)
}
