#pragma once
#include "argus/cache_maintenance.hpp"
