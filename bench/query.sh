#!/usr/bin/env bash
# Typical queries, with few and with many spans: bench/query.sh HONE [SPANS…]. Prints one JSON object a line.
set -euo pipefail
build=$(dirname "$1")
shift
cmake --build "$build" --target bench_query hone-engine >&2
export HONE_ENGINE_PROGRAM=$build/hone-engine
[ $# -gt 0 ] || set -- 500000 5000000
for spans in "$@"; do "$build/bench/bench_query" "$spans"; done
