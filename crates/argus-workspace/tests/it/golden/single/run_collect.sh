#!/usr/bin/env bash
# Builds this workspace and records it with the vendor's simulator.
#
#   ./run_collect.sh build              build only
#   ./run_collect.sh collect [SYMBOL]   record and export what was built
#   ./run_collect.sh                    both
#
# Needs: cmake, msprof, and in the environment CANN_HOME PTO_ISA_ROOT SIMPLER_ROOT.
# CANN_HOME may be left out where ASCEND_HOME_PATH is set. The result is insight_export/OPPROF_*/simulator.
set -euo pipefail
umask 077
cd "$(dirname "${BASH_SOURCE[0]}")"

export CANN_HOME="${CANN_HOME:-${ASCEND_HOME_PATH:-}}"
for root in CANN_HOME PTO_ISA_ROOT SIMPLER_ROOT; do
    if [[ -z "${!root:-}" ]]; then
        echo "run_collect.sh: $root is not set" >&2
        exit 2
    fi
done
export LD_LIBRARY_PATH="$CANN_HOME/tools/simulator/dav_2201/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

build() {
    cmake -S . -B build -DCANN_HOME="$CANN_HOME" -DPTO_ISA_ROOT="$PTO_ISA_ROOT" -DSIMPLER_ROOT="$SIMPLER_ROOT"
    cmake --build build
}

# msprof refuses directories that others may enter, hence the modes.
collect() {
    local symbol="$1" application="$2" dump start
    rm -rf collect insight_export
    mkdir -m 700 collect insight_export
    (cd . && msprof op simulator --application="$application" --kernel-name="$symbol" \
        --launch-count=1 --soc-version=Ascend910B1 --timeout=120 \
        --output=collect)
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

case "${1:-all}" in
    build) build ;;
    collect) collect "${2:-replay_entry}" ./build/replay_host ;;
    all) build && collect replay_entry ./build/replay_host ;;
    *) echo "run_collect.sh: unknown step '$1' (build, collect)" >&2; exit 2 ;;
esac
