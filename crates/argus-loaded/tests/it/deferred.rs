//! Tasks that are complete only when a word in memory says so, as kernels ask for it.

use std::thread;
use std::time::Duration;

use argus_abi::FatalCode;

use crate::compile::compile_text;
use crate::rig::Rig;

/// A kernel whose body uses `out`, the words in slot 0, and `ctx`.
fn kernel(body: &str) -> String {
    format!(
        r#"
#include <cstdint>
#include <pto/pto-inst.hpp>
#include "pto_async_kernel_api.h"
#include "tensor.h"

extern "C" __aicore__ __attribute__((always_inline)) void kernel_entry(__gm__ int64_t *args) {{
    __gm__ int32_t *out = reinterpret_cast<__gm__ int32_t *>(args[0]);
    AsyncCtx ctx = get_async_ctx(args);
    {body}
}}
"#
    )
}

#[test]
fn a_task_is_complete_when_its_counter_is_reached() {
    let dir = tempfile::tempdir().unwrap();
    let text =
        kernel("out[0] = async_ctx_is_deferred(ctx); save_expected_notification_counter(ctx, out + 4, 3);");
    let object = compile_text(dir.path(), &text).unwrap();
    let mut rig = Rig::new();
    let out = rig.buffer(64);
    let memory = rig.memory.clone();
    thread::scope(|scope| {
        let running = scope.spawn(|| rig.run(&object, &[out]));
        let mut begun = [0; 4];
        while begun == [0; 4] {
            memory.read(out, &mut begun).unwrap();
            thread::yield_now();
        }
        // Not a proof that it waits: a kernel that does not is found below, where nothing ever comes.
        memory.write(out + 16, &2i32.to_le_bytes()).unwrap();
        thread::sleep(Duration::from_millis(5));
        assert!(!running.is_finished());
        memory.write(out + 16, &3i32.to_le_bytes()).unwrap();
        running.join().unwrap().unwrap();
    });
}

#[test]
fn a_counter_that_never_comes_is_named_with_the_line_that_asked_for_it() {
    let dir = tempfile::tempdir().unwrap();
    let text = kernel("save_expected_notification_counter(ctx, out + 4, 3);");
    let object = compile_text(dir.path(), &text).unwrap();
    let mut rig = Rig::new();
    let out = rig.buffer(64);
    let stop = rig.stopper();
    let fault = thread::scope(|scope| {
        scope.spawn(stop);
        rig.run(&object, &[out]).unwrap_err()
    });
    let line = text.lines().position(|line| line.contains("save_expected")).unwrap() as u32 + 1;
    let at = fault.location.unwrap();
    assert!(at.file().ends_with("kernel.cpp") && at.line() == line, "{fault}");
}

#[test]
fn completions_that_cannot_be_end_the_run_with_their_codes() {
    let dir = tempfile::tempdir().unwrap();
    let token = |kind: &str| {
        format!(
            "CompletionToken token = {{reinterpret_cast<uint64_t>(out), 1, COMPLETION_ENGINE_SDMA, {kind}, 0}};"
        )
    };
    let register = "register_completion_condition(ctx, token);";
    let cases = [
        (format!("{} {register}", token("7")), FatalCode::AsyncCompletionInvalid),
        (
            format!("{} {register}", token("COMPLETION_TYPE_SDMA_EVENT_RECORD")),
            FatalCode::AsyncCompletionInvalid,
        ),
        (
            "save_expected_notification_counter(ctx, nullptr, 1);".to_owned(),
            FatalCode::AsyncCompletionInvalid,
        ),
        (
            format!(
                "{} for (uint32_t i = 0; i <= MAX_COMPLETIONS_PER_TASK; i++) {{ {register} }}",
                token("COMPLETION_TYPE_COUNTER")
            ),
            FatalCode::AsyncWaitOverflow,
        ),
        (
            "pto2::detail::defer_error(ctx, PTO2_ERROR_ASYNC_REGISTRATION_FAILED);".to_owned(),
            FatalCode::AsyncRegistrationFailed,
        ),
    ];
    for (body, code) in cases {
        let object = compile_text(dir.path(), &kernel(&body)).unwrap();
        let mut rig = Rig::new();
        let out = rig.buffer(64);
        let fault = rig.run(&object, &[out]).unwrap_err();
        assert_eq!(fault.code, Some(code), "{fault}");
        assert!(fault.message().contains(code.name()), "{fault}");
    }
}
