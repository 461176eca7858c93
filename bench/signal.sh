#!/usr/bin/env bash
# Precision and recall of Signal's detectors, false findings on clean data, and the time of a scan: bench/signal.sh HONE
# [SPANS [SEEDS]]. Prints one JSON object.
# bench/signal.sh HONE --trail FOLDER: the same on traces in which people marked the errors; signal_marked.py has the
# form of the folder. Prints one JSON object for each set.
set -euo pipefail
if [ "${2:-}" = --trail ]; then
  exec python3 "$(dirname "${BASH_SOURCE[0]}")/signal_marked.py" "$(realpath "$1")" "${3:?name the folder}"
fi
build=$(dirname "$1")
cmake --build "$build" --target bench_signal hone-engine >&2
export HONE_ENGINE_PROGRAM=$build/hone-engine
exec "$build/bench/bench_signal" "${2:-1000000}" "${3:-3}"
