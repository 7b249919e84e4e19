// Simulated device memory is coherent: there is nothing to flush and nothing to invalidate.
#ifndef ARGUS_CACHE_MAINTENANCE_HPP_
#define ARGUS_CACHE_MAINTENANCE_HPP_

#include <stddef.h>

inline void cache_invalidate_range(const void *, size_t) {}
inline void cache_flush_range(const void *, size_t) {}

#endif  // ARGUS_CACHE_MAINTENANCE_HPP_
