#pragma once
#include "argus/dma_workspace.hpp"
