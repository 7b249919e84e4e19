// Requests to the copy engines of the chip, which the simulated ones do not have: kernels compile, and a request is
// refused.
#ifndef ARGUS_COPY_ENGINES_HPP_
#define ARGUS_COPY_ENGINES_HPP_

#include "argus/async_kernel.hpp"

constexpr uint32_t SDMA_SCRATCH_ALIGNMENT = 256;

namespace argus {
struct SdmaRequest {
    uint8_t *workspace;
};
struct UrmaRequest {
    uint8_t *workspace;
};
}  // namespace argus

template <typename D, typename S, typename T>
static inline argus::SdmaRequest SdmaTget(D &, S &, T &, uint8_t *workspace, uint32_t = 0) {
    return {workspace};
}
template <typename D, typename S, typename T>
static inline argus::SdmaRequest SdmaTput(D &, S &, T &, uint8_t *workspace, uint32_t = 0) {
    return {workspace};
}
template <typename D, typename S>
static inline argus::UrmaRequest UrmaTget(D &, S &, uint8_t *workspace, uint32_t) {
    return {workspace};
}
template <typename D, typename S>
static inline argus::UrmaRequest UrmaTput(D &, S &, uint8_t *workspace, uint32_t) {
    return {workspace};
}
static inline bool send_request_entry(AsyncCtx &, const argus::SdmaRequest &) { return false; }
static inline bool send_request_entry(AsyncCtx &, const argus::UrmaRequest &) { return false; }

namespace pto2 {
namespace urma_backend {
template <typename T>
static inline T *peer_mr_ptr(uint8_t *, uint32_t, uint64_t offset) {
    return reinterpret_cast<T *>(offset);
}
}  // namespace urma_backend
}  // namespace pto2

#endif  // ARGUS_COPY_ENGINES_HPP_
