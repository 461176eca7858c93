#!/usr/bin/env bash
# Precision and recall of Signal's detectors, false findings on clean data, and the time of a scan: bench/signal.sh HONE
# [SPANS [SEEDS]]. Prints one JSON object.
set -euo pipefail
build=$(dirname "$1")
cmake --build "$build" --target bench_signal hone-engine >&2
export HONE_ENGINE_PROGRAM=$build/hone-engine
exec "$build/bench/bench_signal" "${2:-1000000}" "${3:-3}"
