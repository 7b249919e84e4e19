// Found by the include directories that the test names.
constexpr float kFactor = 3.0f;
