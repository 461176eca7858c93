#!/usr/bin/env bash
# What the SQL guard adds to a query: bench/sql.sh HONE [SPANS]. Prints one JSON object.
set -euo pipefail
build=$(dirname "$1")
cmake --build "$build" --target bench_sql hone-engine >&2
export HONE_ENGINE_PROGRAM=$build/hone-engine
"$build/bench/bench_sql" tests/corpus/sql/analytics.sql "${2:-100000}"
