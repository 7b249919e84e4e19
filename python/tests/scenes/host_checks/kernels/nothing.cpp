#include <cstdint>
#include <pto/pto-inst.hpp>
#include "tensor.h"

extern "C" void kernel_entry(int64_t *args) { (void)args; }
