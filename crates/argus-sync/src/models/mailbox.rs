use std::sync::Arc;

use loom::thread;

use super::Memory;
use crate::{Bits, Condition, Mailbox, Token};

/// What a control thread learned before it posts is seen by the kernel, and what the kernel writes is seen by
/// the control thread that reads its finish.
#[test]
fn payload_and_results_are_published() {
    loom::model(|| {
        let mailbox = Arc::new(Mailbox::<u64>::default());
        let input = Arc::new(Memory::new());
        let output = Arc::new(Memory::new());
        let core = {
            let (mailbox, input, output) = (Arc::clone(&mailbox), Arc::clone(&input), Arc::clone(&output));
            thread::spawn(move || {
                let token = loop {
                    match mailbox.receive(None) {
                        Some(token) => break token,
                        None => thread::yield_now(),
                    }
                };
                mailbox.acknowledge(token);
                let value = *mailbox.payload(token);
                output.write(value + input.read());
                mailbox.finish(token);
            })
        };
        input.write(1);
        mailbox.post(Token::FIRST, |payload| *payload = 41);
        loop {
            match mailbox.condition() {
                Condition::Finished(token) => {
                    assert_eq!(token, Token::FIRST);
                    break;
                }
                _ => thread::yield_now(),
            }
        }
        assert_eq!(output.read(), 42);
        core.join().unwrap();
    });
}

/// A control thread posts behind a running task. The core's next acknowledgement overwrites the finish of the
/// first task, so it must publish what that task wrote: the thread that sees it completes the first task.
#[test]
fn the_next_acknowledgement_publishes_the_task_before() {
    super::bounded(3, || {
        let mailbox = Arc::new(Mailbox::<u64>::default());
        let memory = Arc::new(Memory::new());
        let (first, second) = (Token::FIRST, Token::FIRST.next());
        mailbox.post(first, |payload| *payload = 1);
        let core = {
            let (mailbox, memory) = (Arc::clone(&mailbox), Arc::clone(&memory));
            thread::spawn(move || {
                mailbox.acknowledge(first);
                memory.write(7);
                mailbox.finish(first);
                while mailbox.receive(Some(first)).is_none() {
                    thread::yield_now();
                }
                mailbox.acknowledge(second);
            })
        };
        // Not before the core has taken the first: the register holds one token.
        while mailbox.condition() == Condition::Idle {
            thread::yield_now();
        }
        mailbox.post(second, |payload| *payload = 2);
        while mailbox.condition() != Condition::Running(second) {
            thread::yield_now();
        }
        assert_eq!(memory.read(), 7);
        core.join().unwrap();
    });
}

/// A control thread reuses the payload slot of a token whose successor was acknowledged; the core reads every
/// payload as it was posted.
#[test]
fn an_acknowledgement_frees_the_slot_of_the_task_before() {
    super::bounded(2, || {
        let mailbox = Arc::new(Mailbox::<u64>::default());
        let tokens = [Token::FIRST, Token::FIRST.next(), Token::FIRST.next().next()];
        mailbox.post(tokens[0], |payload| *payload = 10);
        let core = {
            let mailbox = Arc::clone(&mailbox);
            thread::spawn(move || {
                let mut last = None;
                for expected in [10, 11, 12] {
                    let token = loop {
                        match mailbox.receive(last) {
                            Some(token) => break token,
                            None => thread::yield_now(),
                        }
                    };
                    mailbox.acknowledge(token);
                    assert_eq!(*mailbox.payload(token), expected);
                    last = Some(token);
                }
            })
        };
        for (index, &token) in tokens.iter().enumerate().skip(1) {
            while mailbox.condition() != Condition::Running(tokens[index - 1]) {
                thread::yield_now();
            }
            mailbox.post(token, |payload| *payload = 10 + index as u64);
        }
        core.join().unwrap();
    });
}

/// A token is posted, then marked. The thread that clears the mark finds the token, and a mark that is not cleared
/// stays for the next look.
#[test]
fn a_token_is_found_by_its_mark() {
    loom::model(|| {
        let shared = Arc::new((Mailbox::<u64>::default(), Bits::<1>::default()));
        let control = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                let (mailbox, marks) = &*shared;
                mailbox.post(Token::FIRST, |payload| *payload = 5);
                marks.mark(3);
            })
        };
        let (mailbox, marks) = &*shared;
        let look = || {
            marks.iter().any(|core| {
                marks.clear(core);
                assert_eq!(mailbox.receive(None), Some(Token::FIRST));
                true
            })
        };
        let found = look();
        control.join().unwrap();
        assert!(found ^ look(), "found once");
    });
}
