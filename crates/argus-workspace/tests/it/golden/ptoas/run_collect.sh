#!/usr/bin/env bash
# Lets PTOAS make a test case of the kernel, gives it the captured inputs, and records it with the vendor's
# simulator.
#
#   ./run_collect.sh build            generate and build
#   ./run_collect.sh collect SYMBOL   record and export what was built; SYMBOL is the kernel's mangled name
#
# `argus replay --collect` runs both and finds the symbol by itself.
# Needs: python3, cmake, msprof, and in the environment CANN_HOME PTOAS_ROOT PTO_ISA_ROOT.
# CANN_HOME may be left out where ASCEND_HOME_PATH is set. The result is insight_export/OPPROF_*/simulator.
set -euo pipefail
umask 077
cd "$(dirname "${BASH_SOURCE[0]}")"

export CANN_HOME="${CANN_HOME:-${ASCEND_HOME_PATH:-}}"
export ASCEND_HOME_PATH="$CANN_HOME"
for root in CANN_HOME PTOAS_ROOT PTO_ISA_ROOT; do
    if [[ -z "${!root:-}" ]]; then
        echo "run_collect.sh: $root is not set" >&2
        exit 2
    fi
done
export LD_LIBRARY_PATH="$CANN_HOME/tools/simulator/dav_2201/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

build() {
    local meta
    rm -rf testcase build
    python3 "$PTOAS_ROOT/test/npu_validation/scripts/generate_testcase.py" \
        --input 'kernel/add.cpp' --testcase add_tiles --output-root testcase --run-mode sim \
        --soc-version Ascend910B1 --aicore-arch dav-c220-vec
    meta="$(find testcase -type f -name validation_meta.env | sort | sed -n 1p)"
    if [[ -z "$meta" ]]; then
        echo "run_collect.sh: generate_testcase.py wrote no validation_meta.env below testcase" >&2
        exit 3
    fi
    cmake -S "$(dirname "$meta")" -B build -DSOC_VERSION=Ascend910B1 -DPTO_ISA_ROOT="$PTO_ISA_ROOT"
    cmake --build build --target add_tiles_sim
}

# msprof refuses directories that others may enter, hence the modes.
collect() {
    local symbol="$1" application="$2" dump start
    rm -rf collect insight_export
    mkdir -m 700 collect insight_export
    (cd run && msprof op simulator --application="$application" --kernel-name="$symbol" \
        --launch-count=1 --soc-version=Ascend910B1 --timeout=120 \
        --output=../collect)
    dump="$(find collect -type d -path '*device0/tmp_dump' | sort | sed -n 1p)"
    if [[ -z "$dump" ]]; then
        dump="$(find collect -type d -path '*device0/dump' | sort | sed -n 1p)"
    fi
    if [[ -z "$dump" ]]; then
        echo "run_collect.sh: msprof left no device0/tmp_dump below collect" >&2
        exit 3
    fi
    # The export reads the start addresses beside the dump, but some versions leave them elsewhere.
    start="$(find collect -type f -name pc_start_addr.txt | sort | sed -n 1p)"
    if [[ -n "$start" && ! -e "$dump/pc_start_addr.txt" ]]; then
        cp "$start" "$dump/"
    fi
    msprof op simulator --export="$dump" --output=insight_export
}

case "${1:-}" in
    build) build ;;
    collect)
        # The program writes its results over its inputs, so it gets a copy.
        rm -rf run
        cp -r inputs run
        collect "${2:?run_collect.sh: collect needs the mangled name of the kernel}" ../build/add_tiles_sim
        ;;
    *) echo "run_collect.sh: say which step: build, collect SYMBOL" >&2; exit 2 ;;
esac
