#pragma once
#include "argus/copy_engines.hpp"
