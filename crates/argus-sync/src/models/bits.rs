use std::sync::Arc;

use loom::thread;

use super::Memory;
use crate::Bits;

/// Two cores report; the thread that takes the marks sees what each did before, and no report is lost or seen twice.
#[test]
fn taking_marks_sees_what_was_done_before_them() {
    loom::model(|| {
        let shared = Arc::new((Bits::<2>::default(), [Memory::new(), Memory::new()]));
        let reporters: Vec<_> = [0, 1]
            .map(|index| {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    let (reported, memory) = &*shared;
                    memory[index].write(9);
                    reported.mark(index * 64);
                })
            })
            .into_iter()
            .collect();
        let (reported, memory) = &*shared;
        let mut seen = 0;
        let mut take = || {
            for number in reported.take() {
                assert_eq!(memory[number / 64].read(), 9);
                seen += 1;
            }
        };
        take();
        for reporter in reporters {
            reporter.join().unwrap();
        }
        take();
        assert_eq!(seen, 2);
        assert!(reported.is_empty());
    });
}

/// Clearing one mark leaves the others of its word, and sees what was done before the mark even if another one
/// was set in between.
#[test]
fn clearing_a_mark_sees_what_was_done_before_it() {
    loom::model(|| {
        let shared = Arc::new((Bits::<1>::default(), [Memory::new(), Memory::new()]));
        let markers: Vec<_> = [0, 1]
            .map(|number| {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    let (marks, memory) = &*shared;
                    memory[number].write(4);
                    marks.mark(number);
                })
            })
            .into_iter()
            .collect();
        let (marks, memory) = &*shared;
        let mut cleared = [false; 2];
        for number in marks.iter() {
            marks.clear(number);
            cleared[number] = true;
            assert_eq!(memory[number].read(), 4);
        }
        for marker in markers {
            marker.join().unwrap();
        }
        for number in marks.iter() {
            assert!(!cleared[number], "a cleared mark does not come back");
            cleared[number] = true;
        }
        assert_eq!(cleared, [true; 2]);
    });
}
