use std::sync::Arc;

use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use crate::FreeThreads;

/// A worker enters a kernel that waits for a partner while the thread it counts on stops helping: one of the
/// two hires a thread.
#[test]
fn a_waiting_kernel_is_never_alone() {
    loom::model(|| {
        let shared = Arc::new((FreeThreads::default(), AtomicUsize::new(0)));
        // The worker, and the orchestration's thread that helps.
        shared.0.join();
        shared.0.join();
        let worker = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                if shared.0.enter_waiting() {
                    shared.1.fetch_add(1, Ordering::Relaxed);
                }
            })
        };
        if shared.0.stop_helping() {
            shared.1.fetch_add(1, Ordering::Relaxed);
        }
        worker.join().unwrap();
        assert!(shared.1.load(Ordering::Relaxed) > 0, "no thread is left to run the partner");
    });
}

/// Two workers enter such kernels at once and no other thread is there: one of them hires, and when the thread that was
/// hired stops, it finds another thread.
#[test]
fn two_waiting_kernels_have_a_thread_to_count_on() {
    loom::model(|| {
        let threads = Arc::new(FreeThreads::default());
        threads.join();
        threads.join();
        let hired = Arc::new(AtomicUsize::new(0));
        let workers = [(); 2].map(|()| {
            let (threads, hired) = (Arc::clone(&threads), Arc::clone(&hired));
            thread::spawn(move || {
                if threads.enter_waiting() {
                    hired.fetch_add(1, Ordering::Relaxed);
                    threads.join();
                }
            })
        });
        for worker in workers {
            worker.join().unwrap();
        }
        assert!(hired.load(Ordering::Relaxed) > 0);
        assert!(threads.stop_helping() || hired.load(Ordering::Relaxed) > 1);
    });
}
