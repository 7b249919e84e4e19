// The tile kernel interface: everything a kernel includes to run on a simulated core.
#ifndef ARGUS_PTO_INST_HPP_
#define ARGUS_PTO_INST_HPP_

#include "argus/comm.hpp"
#include "argus/instructions.hpp"
#include "argus/pipe.hpp"

#endif  // ARGUS_PTO_INST_HPP_
