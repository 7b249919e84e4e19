// What the device's compiler knows and g++ does not: address spaces, pipes, flags, cache maintenance, identity.
#ifndef ARGUS_DEVICE_HPP_
#define ARGUS_DEVICE_HPP_

#include <type_traits>

#include "argus/bound.hpp"
#include "common/platform_config.h"

// Kernels may have given these other meanings before they include a header.
#undef __aicore__
#undef __gm__
#undef __ubuf__
#undef __cbuf__
#undef __ca__
#undef __cb__
#undef __cc__
#undef __fbuf__
#undef __biasbuf__
#undef __global__
#undef __in__
#undef __out__
#undef __tf__
#undef AICORE
#undef dcci
#undef dsb
#undef SINGLE_CACHE_LINE
#undef ENTIRE_DATA_CACHE
#undef CACHELINE_OUT
#undef DSB_DDR
#define __aicore__
#define __gm__
#define __ubuf__
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__
#define __fbuf__
#define __biasbuf__
#define __global__
#define __in__
#define __out__
#define __tf__
#define AICORE

// Kernels with cache calls of their own define them only where this is defined.
#ifndef PTO_CPUSTUB_HPP
#define PTO_CPUSTUB_HPP
#endif

#if !defined(__DAV_VEC__) && !defined(__DAV_CUBE__)
#define __DAV_VEC__
#define __DAV_CUBE__
#endif

#define EVENT_ID0 0
#define EVENT_ID1 1
#define EVENT_ID2 2
#define EVENT_ID3 3
#define EVENT_ID4 4
#define EVENT_ID5 5
#define EVENT_ID6 6
#define EVENT_ID7 7

using pipe_t = int;
using event_t = int;

constexpr pipe_t PIPE_S = 0;
constexpr pipe_t PIPE_V = 1;
constexpr pipe_t PIPE_MTE1 = 2;
constexpr pipe_t PIPE_MTE2 = 3;
constexpr pipe_t PIPE_MTE3 = 4;
constexpr pipe_t PIPE_M = 5;
constexpr pipe_t PIPE_ALL = 6;
constexpr pipe_t PIPE_FIX = 7;

inline void set_flag(pipe_t src, pipe_t dst, event_t id, argus::Site at = argus::Site::here()) {
    argus::Issue(ARGUS_OP_SET_FLAG, at).option(src).option(dst).option(id).run();
}
inline void wait_flag(pipe_t src, pipe_t dst, event_t id, argus::Site at = argus::Site::here()) {
    argus::Issue(ARGUS_OP_WAIT_FLAG, at).option(src).option(dst).option(id).run();
}
inline void pipe_barrier(pipe_t pipe, argus::Site at = argus::Site::here()) {
    argus::Issue(ARGUS_OP_PIPE_BARRIER, at).option(pipe).run();
}

// Generated kernels open namespaces of these names and put equal constants there, so ours lie one level deeper.
namespace cache_line_t {
namespace defaults {
constexpr int SINGLE_CACHE_LINE = 0;
constexpr int ENTIRE_DATA_CACHE = 1;
constexpr int CACHELINE_OUT = 2;
}  // namespace defaults
using namespace defaults;
}  // namespace cache_line_t
namespace dcci_dst_t {
namespace defaults {
constexpr int CACHELINE_ALL = 0;
constexpr int CACHELINE_UB = 1;
constexpr int CACHELINE_OUT = 2;
constexpr int CACHELINE_ATOMIC = 3;
}  // namespace defaults
using namespace defaults;
}  // namespace dcci_dst_t

// The device's compiler knows them without their enumerations too.
using cache_line_t::defaults::ENTIRE_DATA_CACHE;
using cache_line_t::defaults::SINGLE_CACHE_LINE;
using dcci_dst_t::defaults::CACHELINE_OUT;

typedef int mem_dsb_t;
constexpr mem_dsb_t DSB_DDR = 0;
constexpr mem_dsb_t DSB_UB = 1;
constexpr mem_dsb_t DSB_ALL = 2;

// Templates, so that a kernel's own functions of these names stand beside them.
template <typename T>
inline void dcci(T *, int, argus::Site at = argus::Site::here()) {
    argus::Issue(ARGUS_OP_DCCI, at).run();
}
template <typename T>
inline void dcci(T *, int, int, argus::Site at = argus::Site::here()) {
    argus::Issue(ARGUS_OP_DCCI, at).run();
}
template <typename T>
inline void dsb(T, argus::Site at = argus::Site::here()) {
    argus::Issue(ARGUS_OP_DSB, at).run();
}

// Masks of the vector unit: tiles carry their valid region, so there is nothing to set.
template <typename... T>
inline void set_mask_norm(T...) {}
template <typename... T>
inline void set_mask_count(T...) {}
template <typename... T>
inline void set_vector_mask(T...) {}

// A kernel learns its block from its arguments (intrinsic.h); without them a core counts as block 0 of 1.
inline int64_t get_block_idx() { return 0; }
inline int64_t get_block_num() { return 1; }
inline int64_t get_coreid() { return 0; }
inline int64_t get_subblockid() { return argus::core->sub_block_id; }
inline int64_t get_subblockdim() { return 1; }
inline uint64_t get_sys_cnt() {
    return argus::engine->clock(argus::core) / (1000000000 / PLATFORM_PROF_SYS_CNT_FREQ);
}

// Words of global memory past the caches, which no simulated core has. A value becomes the word's type.
template <typename V, typename T>
inline void st_dev(V value, T *address, int = 0) {
    __atomic_store_n(address, static_cast<std::remove_volatile_t<T>>(value), __ATOMIC_RELEASE);
}
template <typename T>
inline std::remove_volatile_t<T> ld_dev(T *address, int = 0) {
    return __atomic_load_n(address, __ATOMIC_ACQUIRE);
}
constexpr int ATOMIC_NONE = 0;
constexpr int ATOMIC_S32 = 1;
constexpr int ATOMIC_SUM = 0;
template <typename... T>
inline void set_st_atomic_cfg(T...) {}
template <typename V, typename T>
inline void st_atomic(V value, T *address, int = 0) {
    __atomic_fetch_add(address, static_cast<std::remove_volatile_t<T>>(value), __ATOMIC_ACQ_REL);
}

#endif  // ARGUS_DEVICE_HPP_
