"""Every line: bits of a double, then it as %.6g, %.4g, %.3g and str() print it."""

import struct
import sys

count = 0
for line in open(sys.argv[1]):
    bits, *texts = line.split()
    value = struct.unpack(">d", bytes.fromhex(bits))[0]
    expected = ["%.6g" % value, "%.4g" % value, "%.3g" % value, str(value)]
    assert texts == expected, (bits, value, texts, expected)
    count += 1
assert count > 100_000
