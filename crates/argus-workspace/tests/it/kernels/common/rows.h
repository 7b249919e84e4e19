#pragma once
// Shared by kernels; lies beside them, so a workspace copies it.
constexpr uint32_t kRows = 2;
