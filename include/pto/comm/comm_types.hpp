// One header holds the whole interface.
#include "pto/pto-inst.hpp"
