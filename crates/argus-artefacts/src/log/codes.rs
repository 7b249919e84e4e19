//! What the numbers mean with which a run ends.

/// Name and meaning of a code of the orchestration (below 100) or of the scheduler, as the logs number them.
pub(super) fn explained(code: i64) -> Option<(&'static str, &'static str)> {
    Some(match code {
        1 => {
            ("SCOPE_DEADLOCK", "a scope holds as many tasks as its ring has slots, so none can be given back")
        }
        2 => ("HEAP_RING_DEADLOCK", "the heap of a ring cannot hold what is alive"),
        3 => ("FLOW_CONTROL_DEADLOCK", "the slots of a ring are full and nothing can free one"),
        4 => {
            ("DEP_POOL_OVERFLOW", "there is no room for another edge (later called FANIN_CAPACITY_EXCEEDED)")
        }
        5 => ("INVALID_ARGS", "an argument or a combination of calls is not allowed"),
        7 => {
            ("REQUIRE_SYNC_START_INVALID", "blocks that must start together are more than the chip can start")
        }
        8 => ("TENSOR_WAIT_TIMEOUT", "the orchestration waited too long for the producer of a tensor"),
        9 => ("EXPLICIT_ORCH_FATAL", "the orchestration itself reported an error"),
        10 => ("SCOPE_TASKS_OVERFLOW", "a scope was given more tasks than a scope may have"),
        11 => ("TENSORMAP_OVERFLOW", "the map of written regions is full and nothing can free an entry"),
        100 => ("SCHEDULER_TIMEOUT", "nothing moved for as long as the scheduler waits"),
        101 => ("ASYNC_COMPLETION_INVALID", "an asynchronous completion was not valid"),
        102 => ("ASYNC_WAIT_OVERFLOW", "too many tasks wait for asynchronous completions"),
        103 => ("ASYNC_REGISTRATION_FAILED", "an asynchronous completion could not be registered"),
        104 => ("READY_QUEUE_OVERFLOW", "more tasks were ready than the queue holds"),
        _ => return None,
    })
}

/// What a number of the driver or of the host means.
pub(super) fn of_driver(status: u64) -> Option<&'static str> {
    Some(match status {
        507_018 => "the driver's general error; the device log has the reason",
        507_014 => "a core did not end in time",
        507_015 => "a core raised an exception",
        507_046 => "the host gave up waiting for the device",
        507_899 | 107_022 => "what is left of an earlier failure",
        1000..=99_999 => "the part of the runtime on the host failed",
        _ => return None,
    })
}
