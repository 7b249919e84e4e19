//! Tasks that are complete only when a word in memory says so, as kernels ask for it.

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
fn a_kernel_returns_and_leaves_what_its_task_waits_for() {
    let dir = tempfile::tempdir().unwrap();
    let text = kernel(
        "out[0] = async_ctx_is_deferred(ctx);
    save_expected_notification_counter(ctx, out + 4, 3);",
    );
    let object = compile_text(dir.path(), &text).unwrap();
    let mut rig = Rig::new();
    let out = rig.buffer(64);
    rig.run(&object, &[out]).unwrap();
    assert_eq!(rig.words(out, 1), [1]);
    let [condition] = &rig.core.take_deferred()[..] else { panic!("one condition") };
    for (word, holds) in [(2i32, false), (3, true), (4, true)] {
        rig.memory.write(out + 16, &word.to_le_bytes()).unwrap();
        assert_eq!(condition.holds().unwrap(), holds, "{word}");
    }
    // A task that waits in vain is named with what it waits for and the line that asked for it.
    rig.memory.write(out + 16, &1i32.to_le_bytes()).unwrap();
    let line = text.lines().position(|line| line.contains("save_expected")).unwrap() + 1;
    let told = condition.to_string();
    assert!(told.starts_with("its completion waits for a signal >= 3, which is 1 ("), "{told}");
    assert!(told.ends_with(&format!("kernel.cpp:{line})")), "{told}");
}

#[test]
fn a_counter_that_is_not_in_memory_is_a_fault_at_the_line_that_asked_for_it() {
    let dir = tempfile::tempdir().unwrap();
    let text = kernel("save_expected_notification_counter(ctx, (void *)64, 3);");
    let object = compile_text(dir.path(), &text).unwrap();
    let mut rig = Rig::new();
    let out = rig.buffer(64);
    let fault = rig.run(&object, &[out]).unwrap_err();
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
