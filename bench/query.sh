#!/usr/bin/env bash
# Typical queries with more and more spans: bench/query.sh HONE [SPANS…]; without sizes 500000 2000000 5000000 20000000,
# which needs 50 GB in $TMPDIR. Prints one JSON object for each size, then how much each query grows from size to size.
set -euo pipefail
build=$(dirname "$1")
shift
cmake --build "$build" --target bench_query hone-engine >&2
export HONE_ENGINE_PROGRAM=$build/hone-engine
[ $# -gt 0 ] || set -- 500000 2000000 5000000 20000000
exec python3 "$(dirname "${BASH_SOURCE[0]}")/query.py" "$build/bench/bench_query" "$@"
