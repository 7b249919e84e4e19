//! Threads that answer wishes, so that keys never wait.
//!
//! The list of wishes is replaced with every frame: what nothing looks at any more is given up, even in the
//! middle. One thread answers what the tensor pane shows, another what the lists show, a third is there while
//! a search for NaN runs.

use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::Event;
use crate::index::Index;
use crate::nonfinite::{self, Hunt, Spot};
use crate::source::Source;
use crate::work::{Wish, grant};

/// The threads; they end when this is dropped, and may be in the middle of something.
pub struct Background {
    source: Arc<dyn Source>,
    index: Arc<Index>,
    events: Sender<Event>,
    wish_list: Arc<WishList>,
}

#[derive(Default)]
struct WishList {
    wishes: Mutex<Wishes>,
    changed: Condvar,
}

#[derive(Default)]
struct Wishes {
    list: Vec<Wish>,
    closed: bool,
}

impl Background {
    pub fn start(source: Arc<dyn Source>, index: Arc<Index>, events: Sender<Event>) -> Background {
        let wish_list = Arc::<WishList>::default();
        let background = Background { source, index, events, wish_list };
        for selection in [true, false] {
            let (source, index) = (Arc::clone(&background.source), Arc::clone(&background.index));
            let (wish_list, events) = (Arc::clone(&background.wish_list), background.events.clone());
            thread::spawn(move || {
                let _loss = Loss(events.clone());
                while let Some(wish) = wish_list.take(selection) {
                    let wanted = || wish_list.wants(wish);
                    if let Some(finding) = grant(&*source, &index, wish, &wanted) {
                        wish_list.done(wish);
                        if events.send(Event::Found(wish, finding)).is_err() {
                            break;
                        }
                    }
                }
            });
        }
        background
    }

    /// What the screen needs now; whatever else was asked for is forgotten.
    pub fn wish(&self, list: Vec<Wish>) {
        let mut wishes = self.wish_list.lock();
        if wishes.list != list {
            wishes.list = list;
            self.wish_list.changed.notify_all();
        }
    }

    /// Starts to look for the next NaN or infinity.
    pub fn hunt(&self, from: Spot, hunt: Arc<Hunt>) {
        let (source, index) = (Arc::clone(&self.source), Arc::clone(&self.index));
        let events = self.events.clone();
        thread::spawn(move || {
            let _loss = Loss(events.clone());
            let hunted = nonfinite::next(&*source, &index, from, &hunt);
            // Nothing listens only if the browser is gone.
            events.send(Event::Hunted(hunted)).ok();
        });
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.wish_list.lock().closed = true;
        self.wish_list.changed.notify_all();
    }
}

impl WishList {
    fn lock(&self) -> MutexGuard<'_, Wishes> {
        self.wishes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first wish of a kind; waits for one, `None` if there will be none.
    fn take(&self, selection: bool) -> Option<Wish> {
        let mut wishes = self.lock();
        loop {
            if wishes.closed {
                return None;
            }
            let mut kind = wishes.list.iter().filter(|wish| wish.is_about_the_selection() == selection);
            if let Some(&wish) = kind.next() {
                return Some(wish);
            }
            wishes = self.changed.wait(wishes).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn wants(&self, wish: Wish) -> bool {
        let wishes = self.lock();
        !wishes.closed && wishes.list.contains(&wish)
    }

    fn done(&self, wish: Wish) {
        self.lock().list.retain(|other| *other != wish);
    }
}

/// Tells when a thread ends by a panic: nothing should wait for its answers.
struct Loss(Sender<Event>);

impl Drop for Loss {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.send(Event::Lost).ok();
        }
    }
}
