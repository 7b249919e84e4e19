//! Ways of writing kernels that headers must put up with.

use std::path::Path;
use std::process::Command;

use argus_abi::CoreType;
use argus_compile::Generation;

use crate::compile::{compile, compile_text, unit_for};
use crate::rig::Rig;

/// Every header that kernels name, each as the only one of its source.
const HEADERS: &[&str] = &[
    "<pto/pto-inst.hpp>",
    "<pto/common/constants.hpp>",
    "<pto/common/pto_tile.hpp>",
    "<pto/common/fifo.hpp>",
    "\"pto/comm/comm_types.hpp\"",
    "\"pto/comm/pto_comm_inst.hpp\"",
    "\"pto/comm/async_common/async_types.hpp\"",
    "<pto/npu/a5/utils.hpp>",
    "\"tensor.h\"",
    "\"intrinsic.h\"",
    "\"pipe_sync.h\"",
    "\"pto_async_kernel_api.h\"",
    "\"platform_comm/comm_context.h\"",
    "\"common/platform_config.h\"",
    "\"backend/sdma/sdma_completion_kernel.h\"",
    "\"backend/urma/urma_completion_kernel.h\"",
];

#[test]
fn every_header_can_be_the_only_one_and_be_included_twice() {
    let dir = tempfile::tempdir().unwrap();
    for (number, header) in HEADERS.iter().enumerate() {
        let source = dir.path().join(format!("header{number}.cpp"));
        let text =
            format!("#include {header}\n#include {header}\nextern \"C\" void kernel_entry(int64_t *) {{}}\n");
        std::fs::write(&source, text).unwrap();
        compile(unit_for(&source, CoreType::Aiv, Generation::August, argus_chip::CHIPS[0])).unwrap();
        compile(unit_for(&source, CoreType::Aic, Generation::June, argus_chip::CHIPS[1])).unwrap();
    }
}

/// All of them in either order.
#[test]
fn the_order_of_headers_does_not_matter() {
    let dir = tempfile::tempdir().unwrap();
    for reverse in [false, true] {
        let mut headers: Vec<&str> = HEADERS.to_vec();
        if reverse {
            headers.reverse();
        }
        let includes: String = headers.iter().map(|header| format!("#include {header}\n")).collect();
        let text = format!("{includes}extern \"C\" void kernel_entry(int64_t *) {{}}\n");
        compile_text(dir.path(), &text).unwrap();
    }
}

/// A kernel's author may ask for every warning, and gets those of the kernel alone.
#[test]
fn headers_give_no_warnings_whoever_asks_for_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let include = root.join("../../include").canonicalize().unwrap();
    for (kernel, core, front) in [
        ("every_call.cpp", "-D__DAV_VEC__", "august/a2a3/trb"),
        ("every_call_matrix.cpp", "-D__DAV_CUBE__", "june/a5/trb"),
        ("queues.cpp", "-D__DAV_VEC__", "august/a5/trb"),
        ("ranks.cpp", "-D__DAV_VEC__", "august/a2a3/hbg"),
    ] {
        let mut compiler = Command::new("g++");
        compiler.args([
            "-std=c++20",
            "-O2",
            "-Wall",
            "-Wextra",
            "-Wno-attributes",
            "-fsyntax-only",
            "-D__CPU_SIM",
        ]);
        compiler.args([core, "-I"]).arg(&include).arg("-I").arg(include.join(front));
        let output = compiler.arg(root.join("tests/kernels").join(kernel)).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !said.contains(&*include.to_string_lossy()), "{kernel}: {said}");
    }
}

/// What kernels define for themselves, before and after the header, and names that they take for other things.
const OWN_NAMES: &str = r#"
#include <cstdint>
#ifndef __gm__
#define __gm__
#endif
#ifndef __aicore__
#define __aicore__ [aicore]
#endif
#include <pto/pto-inst.hpp>
#include "tensor.h"
#include "intrinsic.h"
#include "pipe_sync.h"
#ifdef PTO_CPUSTUB_HPP
#ifndef dcci
#define dcci(...) do { } while (0)
#endif
#ifndef SINGLE_CACHE_LINE
#define SINGLE_CACHE_LINE 0
#endif
#ifndef CACHELINE_OUT
#define CACHELINE_OUT 0
#endif
#endif
#define SPIN_WAIT_HINT() ((void)0)

struct Site {
    int line;
};

template <typename ChipTensor>
static __aicore__ auto first(__gm__ ChipTensor *tensor) -> decltype(tensor->data()) {
    return tensor->data();
}

template <int ROWS, int COLS, typename T>
static __aicore__ void work(__gm__ T *out) {
    using namespace pto;
    constexpr int M = ROWS, N = COLS, K = 1, TILE = M * N * K;
    const int shape = TILE, stride = N;
    using G = GlobalTensor<T, pto::Shape<1, 1, 1, M, N>, pto::Stride<1, 1, 1, N, 1>>;
    G g(out);
    using V = Tile<TileType::Vec, T, M, N>;
    static_assert(V::GetValidRow() == M && V::GetValidCol() == N, "static valid shapes are constants");
    V v[2];
    TASSIGN(v[0], 0);
    TASSIGN<0x100>(v[1]);
    TEXPANDS(v[0], T(shape));
    TEXPANDS(v[1], T(stride));
    TADD(v[1], v[0], v[1]);
    TSTORE(g, v[1]);
    dcci(first(&g), SINGLE_CACHE_LINE, CACHELINE_OUT);
    SPIN_WAIT_HINT();
    dsb(DSB_DDR);
}

extern "C" __aicore__ __attribute__((always_inline)) void kernel_entry(__gm__ int64_t *args) {
    Site site = {5};
    work<1, 8>(reinterpret_cast<__gm__ int32_t *>(args[0]));
    reinterpret_cast<__gm__ int32_t *>(args[0])[8] = site.line + get_block_idx(args) + static_cast<int32_t>(get_block_idx());
    pipe_sync();
}
"#;

#[test]
fn names_of_a_kernel_stand_beside_those_of_the_headers() {
    let dir = tempfile::tempdir().unwrap();
    let object = compile_text(dir.path(), OWN_NAMES).unwrap();
    let mut rig = Rig::new();
    let out = rig.buffer(64);
    rig.run(&object, &[out]).unwrap();
    assert_eq!(rig.words(out, 9), [16, 16, 16, 16, 16, 16, 16, 16, 5]);
}

/// Interfaces of the kernel side that no case of the suite calls.
const DEFERRED: &str = r#"
#include <cstdint>
#include <pto/pto-inst.hpp>
#include "intrinsic.h"
#include "pto_async_kernel_api.h"
#include "backend/sdma/sdma_completion_kernel.h"
#include "common/platform_config.h"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args) {
    int32_t *out = reinterpret_cast<int32_t *>(args[0]);
    uint32_t count = 1;
    int32_t code = 0;
    DeferredCompletionEntry entries[2] = {};
    AsyncCtx context = {&count, &code, entries, 2, PTO2TaskId::make(0, 7)};
    const CompletionToken token = {uint64_t(args[0]), 3, COMPLETION_ENGINE_SDMA, COMPLETION_TYPE_COUNTER, 9};
    out[0] = async_ctx_is_deferred(context);
    out[1] = register_completion_condition(context, token);
    out[2] = int32_t(count);
    out[3] = int32_t(entries[1].expected_value + entries[1].backend_cookie);
    out[4] = register_completion_condition(context, token);
    out[5] = code;
    context.task_token = PTO2TaskId::invalid();
    out[6] = register_completion_condition(context, token);
    out[7] = get_dma_workspace(args, DMA_WORKSPACE_SDMA) == nullptr && get_dma_workspace(args, 2) == nullptr;
    out[8] = int32_t(PLATFORM_PROF_SYS_CNT_FREQ / 1000000);
    const uint64_t before = get_sys_cnt();
    out[9] = get_sys_cnt() >= before;
    send_notification(out + 10, 4, pto::comm::NotifyOp::AtomicAdd);
}
"#;

#[test]
fn deferred_completions_are_written_where_the_context_says() {
    let dir = tempfile::tempdir().unwrap();
    let object = compile_text(dir.path(), DEFERRED).unwrap();
    let mut rig = Rig::new();
    let out = rig.buffer(64);
    rig.run(&object, &[out]).unwrap();
    assert_eq!(rig.words(out, 11), [1, 1, 2, 12, 0, 102, 0, 1, 50, 1, 4]);
}

/// The counter runs at the chip's frequency, over all kernels of a process.
const COUNTER: &str = r#"
#include <chrono>
#include <cstdint>
#include <pto/pto-inst.hpp>

using Clock = std::chrono::steady_clock;

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args) {
    int32_t *out = reinterpret_cast<int32_t *>(args[0]);
    uint64_t *last = reinterpret_cast<uint64_t *>(args[1]);
    const auto outer = Clock::now();
    const uint64_t begin = get_sys_cnt();
    const auto inner = Clock::now();
    while (Clock::now() - inner < std::chrono::milliseconds(2)) {
    }
    const int64_t least = (Clock::now() - inner).count();
    const uint64_t end = get_sys_cnt();
    const int64_t most = (Clock::now() - outer).count();
    const int64_t passed = int64_t(end - begin) * 20;
    out[0] = passed + 20 >= least;
    out[1] = passed <= most + 20;
    out[2] = begin >= *last;
    *last = end;
}
"#;

#[test]
fn the_counter_runs_at_the_frequency_of_the_chip_and_does_not_start_again() {
    let dir = tempfile::tempdir().unwrap();
    let object = compile_text(dir.path(), COUNTER).unwrap();
    let mut rig = Rig::new();
    let (out, last) = (rig.buffer(64), rig.buffer(8));
    for _ in 0..2 {
        rig.run(&object, &[out, last]).unwrap();
        assert_eq!(rig.words(out, 3), [1, 1, 1]);
    }
}

/// What touches nothing needs no memory: tails of nothing, and scratch tiles that only real chips work in.
const NOTHING: &str = r#"
#include <cstdint>
#include <pto/pto-inst.hpp>

using namespace pto;

using Rows = GlobalTensor<float, Shape<1, 1, 1, 16, 16>, Stride<256, 256, 256, 16, 1>>;
using Part = Tile<TileType::Vec, float, 16, 16, BLayout::RowMajor, -1, -1>;
using Column = Tile<TileType::Vec, float, 16, 1, BLayout::ColMajor, 16, 1>;

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args) {
    float *x = reinterpret_cast<float *>(args[0]);
    Rows rows(x), nowhere(static_cast<float *>(nullptr));
    Part empty(0, 16), narrow(16, 0), whole(16, 16), scratch(16, 16);
    Column most;
    TASSIGN(empty, 0);
    TASSIGN(narrow, 0);
    TASSIGN(whole, 0x1000);
    TASSIGN(most, 0x2000);
    TLOAD(whole, rows);
    TLOAD(empty, nowhere);
    TSTORE(nowhere, empty);
    TROWEXPANDMUL(narrow, narrow, most);
    TROWMAX(most, whole, scratch);
#ifdef FOLLOWED
    TLOAD(whole, nowhere);
#endif
    TADDS(whole, whole, 1.0f);
    TSTORE(rows, whole);
}
"#;

#[test]
fn what_touches_nothing_needs_no_memory() {
    let dir = tempfile::tempdir().unwrap();
    let object = compile_text(dir.path(), NOTHING).unwrap();
    let mut rig = Rig::new();
    let x = rig.buffer(1024);
    rig.memory.write(x, &2.0f32.to_le_bytes().repeat(256)).unwrap();
    rig.run(&object, &[x]).unwrap();
    assert_eq!(rig.words(x, 256), [3.0f32.to_bits() as i32; 256]);

    let followed = compile_text(dir.path(), &format!("#define FOLLOWED\n{NOTHING}")).unwrap();
    let fault = rig.run(&followed, &[x]).unwrap_err().to_string();
    assert!(fault.contains("device address 0x0 belong to no allocation"), "{fault}");
}

/// The interface of the small float types, which tiles and scalars are made of.
const NUMBERS: &str = r#"
#include <cstdint>
#include <pto/pto-inst.hpp>

static_assert(sizeof(half) == 2 && sizeof(bfloat16_t) == 2 && sizeof(float8_e4m3_t) == 1, "sizes of elements");

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args) {
    int32_t *out = reinterpret_cast<int32_t *>(args[0]);
    const bfloat16_t zero = 0.0f;
    bfloat16_t x = 1.0f, y = 3;
    float wide = x + 0.25f;
    x += y;
    out[0] = int32_t(float(x));
    out[1] = int32_t(wide * 4);
    out[2] = x > y && zero == 0.0f && !(x < zero);
    // Halfway between two: to the even one. From double in one rounding.
    out[3] = bfloat16_t(1.00390625f).bits;
    out[4] = bfloat16_t(1.01171875f).bits;
    out[5] = bfloat16_t(1.0 + 0x1p-8 + 0x1p-40).bits;
    out[6] = int32_t(float(float8_e4m3_t(1.75f)) * 4);
    out[7] = int32_t(float(float8_e5m2_t(-6.0f)));
    out[8] = int32_t(float(float8_e8m0_t(8.0f)));
    out[9] = int32_t(half(2049.0f));
}
"#;

#[test]
fn small_floats_are_types_of_their_own_that_round_to_even() {
    let dir = tempfile::tempdir().unwrap();
    let object = compile_text(dir.path(), NUMBERS).unwrap();
    let mut rig = Rig::new();
    let out = rig.buffer(64);
    rig.run(&object, &[out]).unwrap();
    assert_eq!(rig.words(out, 10), [4, 5, 1, 0x3F80, 0x3F82, 0x3F81, 7, -6, 8, 2048]);
}
