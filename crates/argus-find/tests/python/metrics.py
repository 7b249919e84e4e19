"""Random payloads of every dtype and what numpy and ml_dtypes say about them.

Writes to the directory given: for each case two payloads, and `cases.json` with dtype, tolerance and metrics.
Floats are written as text, because readers of JSON may round numbers.
"""

import json
import pathlib
import sys

import ml_dtypes
import numpy as np

FLOATS = {
    "FLOAT32": (np.float32, np.uint32),
    "FLOAT16": (np.float16, np.uint16),
    "BFLOAT16": (ml_dtypes.bfloat16, np.uint16),
    "FP8E4M3FN": (ml_dtypes.float8_e4m3fn, np.uint8),
    "FP8E8M0": (ml_dtypes.float8_e8m0fnu, np.uint8),
    "FP4E2M1": (ml_dtypes.float4_e2m1fn, np.uint8),
}
INTEGERS = {
    "INT8": np.int8,
    "INT16": np.int16,
    "INT32": np.int32,
    "INT64": np.int64,
    "UINT8": np.uint8,
    "UINT16": np.uint16,
    "UINT32": np.uint32,
    "UINT64": np.uint64,
    "BOOL": np.bool_,
}
BITS = {"FP8E4M3FN": 8, "FP8E8M0": 8, "FP4E2M1": 4, "FLOAT16": 16, "BFLOAT16": 16, "FLOAT32": 32}


def float_bits(name, count, rng):
    """Raw bits: values near one, NaN, infinities, zeros of both signs, subnormals, anything."""
    dtype, raw = FLOATS[name]
    bits = BITS[name]
    if name == "FP4E2M1":
        return rng.integers(0, 16, count).astype(np.uint8)
    near_one = rng.standard_normal(count).astype(np.float32).astype(dtype).view(raw)
    anything = rng.integers(0, 2**bits, count, dtype=np.uint64).astype(raw)
    subnormal = (rng.integers(0, 8, count) | (rng.integers(0, 2, count) << (bits - 1))).astype(raw)
    with np.errstate(all="ignore"):
        special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0], np.float32).astype(dtype).view(raw)
    special = rng.choice(special, count)
    choice = rng.integers(0, 20, count)
    return np.select([choice == 0, choice == 1, choice == 2], [anything, subnormal, special], near_one)


def integers(name, count, rng):
    dtype = INTEGERS[name]
    if name == "BOOL":
        return rng.integers(0, 2, count).astype(np.bool_)
    info = np.iinfo(dtype)
    small = rng.integers(0, 100, count).astype(dtype)
    wide = rng.integers(info.min, info.max, count, dtype=dtype, endpoint=True)
    limits = rng.choice(np.array([info.min, info.max, 0], dtype), count)
    choice = rng.integers(0, 10, count)
    return np.select([choice == 0, choice == 1], [wide, limits], small)


def decades(errors):
    """How many errors lie in each power of ten."""
    bounds = np.array([float(f"1e{k}") for k in range(-45, 40)])
    places, counts = np.unique(np.searchsorted(bounds, errors[errors > 0], side="right") - 1, return_counts=True)
    return [[int(place) - 45, int(count)] for place, count in zip(places, counts)]


def ordered(name, bits):
    """Places on the line of all values of a float, as Python integers."""
    bits = bits.astype(np.int64)
    if name == "FP8E8M0":
        return bits
    sign = 1 << (BITS[name] - 1)
    return np.where(bits & sign, -(bits & (sign - 1)), bits)


def float_metrics(name, actual_bits, expected_bits, rtol, atol):
    dtype, raw = FLOATS[name]
    actual = actual_bits.view(dtype).astype(np.float64)
    expected = expected_bits.view(dtype).astype(np.float64)
    finite = np.isfinite(actual) & np.isfinite(expected)
    a, e = actual[finite], expected[finite]
    steps = np.abs(ordered(name, actual_bits) - ordered(name, expected_bits))[finite]
    close = np.isclose(actual, expected, rtol=rtol, atol=atol, equal_nan=True)
    specials = {
        "nan_actual": np.isnan(actual) & ~np.isnan(expected),
        "nan_expected": ~np.isnan(actual) & np.isnan(expected),
        "inf_actual": np.isinf(actual) & np.isfinite(expected),
        "inf_expected": np.isfinite(actual) & np.isinf(expected),
        "inf_opposite": np.isinf(actual) & np.isinf(expected) & (actual != expected),
    }
    # Nothing is worse than a special value in the wrong place.
    badness = np.where(finite, np.abs(actual - expected), 0.0)
    badness[sum(specials.values()).astype(bool)] = np.inf
    return {
        "allclose": bool(np.allclose(actual, expected, rtol=rtol, atol=atol, equal_nan=True)),
        "nan_both": int((np.isnan(actual) & np.isnan(expected)).sum()),
        "inf_both": int((np.isinf(actual) & (actual == expected)).sum()),
        "max_abs": repr(float(np.abs(a - e).max())),
        "non_finite": {kind: int(where.sum()) for kind, where in specials.items()},
        **common(actual, expected, a, e, np.abs(a - e), steps, close, badness),
    }


def integer_metrics(actual, expected, rtol, atol):
    # Python's own integers are exact.
    exact = [abs(int(a) - int(e)) for a, e in zip(actual, expected)]
    if rtol == 0:
        close = np.array([error <= atol for error in exact])
    else:
        close = np.array([error <= atol + rtol * abs(float(int(e))) for error, e in zip(exact, expected)])
    a, e = actual.astype(np.float64), expected.astype(np.float64)
    errors = np.array([float(error) for error in exact])
    steps = np.array(exact, dtype=object)
    return {
        "allclose": bool(close.all()),
        "nan_both": 0,
        "inf_both": 0,
        "max_abs": max(exact),
        "non_finite": {},
        **common(a, e, a, e, errors, steps, close, steps),
    }


def common(actual, expected, a, e, errors, steps, close, badness):
    wrong = np.flatnonzero(~close)
    worst = int(wrong[np.argmax(badness[wrong])]) if len(wrong) else None
    nonzero = e != 0
    length = np.linalg.norm(e)
    return {
        "finite": len(a),
        "beyond": int((~close).sum()),
        "max_rel": repr(float((errors[nonzero] / np.abs(e[nonzero])).max())),
        "max_ulp": int(max(steps)),
        "mean_ulp": repr(float(sum(int(step) for step in steps) / len(a))),
        "rmse": repr(float(np.sqrt(np.mean(errors**2)))),
        "relative_l2": repr(float(np.linalg.norm(errors) / length)),
        "cosine": repr(float(a @ e / np.linalg.norm(a) / length)),
        "zeros": [int((actual == 0).sum()), int((expected == 0).sum())],
        "zero_errors": int((errors == 0).sum()),
        "decades": decades(errors),
        "first": int(wrong[0]) if len(wrong) else None,
        "worst": worst,
    }


def packed(name, values):
    if name != "FP4E2M1":
        return values.tobytes()
    padded = np.concatenate([values, np.zeros(len(values) % 2, np.uint8)])
    return (padded[0::2] | padded[1::2] << 4).tobytes()


def main(directory):
    rng = np.random.default_rng(20240607)
    cases = []
    for name in [*FLOATS, *INTEGERS]:
        for rtol, atol, count in [(0.0, 0.0, 901), (1e-5, 1e-5, 5000), (0.02, 0.5, 4097), (0.0, 3.0, 333)]:
            draw = float_bits if name in FLOATS else integers
            expected = draw(name, count, rng)
            other = draw(name, count, rng)
            # Most elements agree, some are neighbours, some are anything.
            choice = rng.integers(0, 10, count)
            if name == "BOOL":
                neighbour = ~expected
            elif name == "FP4E2M1":
                neighbour = expected ^ 1
            else:
                neighbour = expected + np.array(1, expected.dtype)
            actual = np.select([choice == 0, choice < 3], [other, neighbour], expected).astype(expected.dtype)
            with np.errstate(all="ignore"):
                if name in FLOATS:
                    metrics = float_metrics(name, actual, expected, rtol, atol)
                else:
                    metrics = integer_metrics(actual, expected, rtol, atol)
            label = f"{name}-{len(cases)}"
            (directory / f"{label}.actual").write_bytes(packed(name, actual))
            (directory / f"{label}.expected").write_bytes(packed(name, expected))
            cases.append(
                {
                    "label": label,
                    "dtype": name,
                    "elements": count,
                    "rtol": repr(rtol),
                    "atol": repr(atol),
                    "metrics": metrics,
                }
            )
    (directory / "cases.json").write_text(json.dumps(cases))


main(pathlib.Path(sys.argv[1]))
