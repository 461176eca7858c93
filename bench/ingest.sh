#!/usr/bin/env bash
# Durable ingest beside its baselines: bench/ingest.sh HONE [SPANS [real|repetitive [quick]]]. Prints one JSON object.
set -euo pipefail
build=$(dirname "$1")
cmake --build "$build" --target bench_ingest hone-engine >&2
export HONE_ENGINE_PROGRAM=$build/hone-engine
exec "$build/bench/bench_ingest" "${@:2}"
