//! Run logs: every class of stall, every code, and what two processes write to one line.

use argus_artefacts::log::RunLog;
use argus_facts::StallClass;

fn log(text: &str) -> RunLog {
    RunLog::parse(text.as_bytes()).unwrap()
}

#[test]
fn every_class_of_stall_is_read_with_its_counts() {
    for (class, running, ready, waiting, done, stuck) in [
        (StallClass::RunningStalled, 1, 100, 3, 1, "4294967298"),
        (StallClass::ReadyButAllIdle, 0, 2, 3, 0, "-1"),
        (StallClass::DependencyDeadlock, 0, 0, 3, 1, "-1"),
        (StallClass::OrchestratorStarvation, 0, 0, 0, 0, "-1"),
        (StallClass::Unknown, 0, 0, 0, 1, "13835058055282163714"),
    ] {
        let (name, detail) = (class.name(), class.detail());
        let read = log(&format!(
            "x.cpp: PTO2 runtime failed: orch_error_code=0 sched_error_code=100 runtime_status=-100\n\
             error detail: sched_error_code=100 SCHEDULER_TIMEOUT - nothing moved\nerror hint: look there\n\
             PTO2 scheduler timeout sub_class={name} (detail={detail}) completed=3/5 running={running} ready={ready} \
             waiting={waiting} orch_done={done} stuck_task_id={stuck} stuck_core=8\n"
        ));
        assert_eq!(read.unreadable, 0);
        let report = read.stall.unwrap();
        let stall = report.stall.unwrap();
        assert_eq!((stall.class, report.class_name()), (class, name));
        assert_eq!(StallClass::of(stall.running, stall.ready, stall.waiting, stall.orchestrator_done), class);
        assert_eq!((stall.completed, stall.submitted), (3, 5));
        let id = stuck.parse::<u64>().ok();
        assert_eq!(stall.task.map(|task| task.raw()), id);
        let failure = read.failure.unwrap();
        assert_eq!(failure.reason(), "sched_error_code=100 SCHEDULER_TIMEOUT - nothing moved");
        assert_eq!(failure.hint.as_deref(), Some("look there"));
    }
    // The host writes this where no timeout was recorded: it is neither a stall nor damage.
    let none = log(
        "scheduler timeout sub_class=none (detail=0) completed=0/0 running=0 ready=0 waiting=0 orch_done=0 \
                    stuck_task_id=-1 stuck_core=-1",
    );
    assert_eq!((none.stall, none.unreadable), (None, 0));
    let other = log(
        "sub_class=S9:new completed=1/2 running=0 ready=0 waiting=0 orch_done=0 stuck_task_id=-1 stuck_core=-1",
    );
    assert_eq!((other.stall, other.unreadable), (None, 1));
}

#[test]
fn a_stall_without_a_class_is_a_stall() {
    let read = log("[STALL thread=2 idle_iterations=480000] TIMEOUT_EXIT after_idle_iterations=480000\n\
         [STALL thread=0 idle_iterations=480000] TASK ring=1 task_id=4294967298 state=RUNNING fanin_refcount=2/2 kernels=[aic:3 aiv0:-1 aiv1:-1] running_on=[owner_thread=0 cores=[core=3(aic)]]\n\
         [STALL thread=0 idle_iterations=480000] TASK ring=1 task_id=4294967299 state=WAIT fanin_refcount=1/3 missing_deps=2\n\
         [STALL thread=0 idle_iterations=480000] SUMMARY completed=3/5 last_progress_iteration=7 scan_ready=0 scan_waiting=1 scan_running=1\n\
         [STALL thread=1 idle_iterations=480000] CLUSTER cluster_id=0 aic=core0(idle) aiv0=core8(busy kernel=1 task=4294967298 cond_reg_state=ack) aiv1=core9(idle)\n");
    let report = read.stall.unwrap();
    assert_eq!((report.stall, report.class_name(), report.thread), (None, "no class told", Some(2)));
    let states: Vec<_> =
        report.tasks.iter().map(|task| (task.id.raw(), task.state.as_str(), task.missing)).collect();
    assert_eq!(states, [(4_294_967_298, "RUNNING", None), (4_294_967_299, "WAIT", Some(2))]);
    assert!(report.summary.unwrap().starts_with("completed=3/5 "));
    assert!(report.clusters[0].starts_with("cluster_id=0 aic=core0(idle)"));
}

/// June prints codes without a name.
#[test]
fn every_code_is_named() {
    let names = [
        (1, "SCOPE_DEADLOCK"),
        (2, "HEAP_RING_DEADLOCK"),
        (3, "FLOW_CONTROL_DEADLOCK"),
        (4, "DEP_POOL_OVERFLOW"),
        (5, "INVALID_ARGS"),
        (7, "REQUIRE_SYNC_START_INVALID"),
        (8, "TENSOR_WAIT_TIMEOUT"),
        (9, "EXPLICIT_ORCH_FATAL"),
        (10, "SCOPE_TASKS_OVERFLOW"),
        (11, "TENSORMAP_OVERFLOW"),
        (100, "SCHEDULER_TIMEOUT"),
        (101, "ASYNC_COMPLETION_INVALID"),
        (102, "ASYNC_WAIT_OVERFLOW"),
        (103, "ASYNC_REGISTRATION_FAILED"),
        (104, "READY_QUEUE_OVERFLOW"),
    ];
    for (code, name) in names {
        let [orchestrator, scheduler] = if code < 100 { [code, 0] } else { [0, code] };
        let read = log(&format!(
            "simpler runtime failed: orch_error_code={orchestrator} sched_error_code={scheduler} runtime_status=-{code}\n"
        ));
        let reason = read.failure.unwrap().reason();
        assert!(reason.starts_with(&format!("code {code} {name}: ")), "{reason}");
        // On a simulator the code is all that Python says.
        let read = log(&format!("RuntimeError: run_prepared failed with code -{code}\n"));
        assert!(read.failure.unwrap().reason().starts_with(&format!("code {code} {name}: ")));
    }
    let reason = |status: i64| log(&format!("failed with code {status}")).failure.unwrap().reason();
    assert_eq!(reason(507_018), "status 507018: the driver's general error; the device log has the reason");
    assert_eq!(reason(-1003), "status -1003: the part of the runtime on the host failed");
    assert_eq!(reason(-6), "status -6");
    assert_eq!(reason(i64::MIN), format!("status {}", i64::MIN));
}

#[test]
fn records_that_share_a_line_are_told_apart_under_every_prefix() {
    let span =
        |pid: u32| format!("f: [STRACE] v=1 pid={pid} tid=1 inv=1 hid=0 depth=0 name=simpler_run ts=5 dur=6");
    for prefix in
        ["[2026-07-30 10:11:12.131415][T0x7f][INFO_V0] ", "[mono_ns=5][T0x1][TIMING] ", "[T0x12][TIMING] "]
    {
        let read = log(&format!("{prefix}{}{prefix}{}\n", span(1), span(2)));
        let spans: Vec<_> = read.spans.iter().map(|span| (span.pid, span.duration_ns)).collect();
        assert_eq!((spans, read.unreadable), (vec![(1, 6), (2, 6)], 0), "{prefix}");
    }
}

#[test]
fn a_run_on_several_chips_is_told_by_its_runner() {
    assert_eq!(log("[scheduler] START L3 TestGroup (rt=x, dev=2) pid=16048 devices=[0, 1]").devices, 2);
    assert_eq!(log("[scheduler] START L2 TestOne (rt=x, dev=1) pid=16048 devices=[0]").devices, 1);
    assert_eq!(log("nothing").devices, 0);
}
