// The scalar unit waits for what leaves the core.
#ifndef ARGUS_PIPE_SYNC_HPP_
#define ARGUS_PIPE_SYNC_HPP_

#if !defined(__DAV_VEC__) && !defined(__DAV_CUBE__)
#error "pipe_sync.h needs __DAV_VEC__ or __DAV_CUBE__"
#endif

#include "argus/device.hpp"

static inline void pipe_sync(argus::Site at = argus::Site::here()) {
#if defined(__DAV_VEC__)
    constexpr pipe_t leaving = PIPE_MTE3;
#else
    constexpr pipe_t leaving = PIPE_FIX;
#endif
    set_flag(leaving, PIPE_S, EVENT_ID7, at);
    wait_flag(leaving, PIPE_S, EVENT_ID7, at);
}

#endif  // ARGUS_PIPE_SYNC_HPP_
