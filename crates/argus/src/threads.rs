//! The threads of loops that run on every processor.
//!
//! `ulimit -u`, or too little memory, may allow fewer threads than there are processors, or none. The library that runs
//! such loops panics when one of its threads cannot be started, so the threads are started first and it gets those that
//! did; without any, this thread does all of the work.

use std::sync::mpsc::{Sender, channel};

use rayon::{ThreadBuilder, ThreadPoolBuilder};

pub fn start() {
    let wanted = std::thread::available_parallelism().map_or(1, |count| count.get());
    let started: Vec<Sender<ThreadBuilder>> = (0..wanted).map_while(|_| start_one()).collect();
    // Fails only if there is a pool already, which is then used.
    let _ = match started.len() {
        0 => ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global(),
        count => {
            let mut started = started.into_iter();
            let pool = ThreadPoolBuilder::new().num_threads(count).spawn_handler(move |thread| {
                let waiting =
                    started.next().ok_or_else(|| std::io::Error::other("more threads than asked for"))?;
                waiting.send(thread).map_err(|_| std::io::Error::other("a thread that was started is gone"))
            });
            pool.build_global()
        }
    };
}

/// A thread that waits to be told what it is for.
fn start_one() -> Option<Sender<ThreadBuilder>> {
    let (tell, told) = channel::<ThreadBuilder>();
    let thread = std::thread::Builder::new().name("argus-loops".to_owned());
    thread.spawn(move || told.recv().map(ThreadBuilder::run)).ok()?;
    Some(tell)
}
