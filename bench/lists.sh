#!/usr/bin/env bash
# Lists of the newest in a dense project, quiet and while spans arrive: bench/lists.sh HONE [SPANS]. Prints one JSON object.
set -euo pipefail
build=$(dirname "$1")
cmake --build "$build" --target bench_lists hone-engine >&2
export HONE_ENGINE_PROGRAM=$build/hone-engine
exec "$build/bench/bench_lists" "${@:2}"
