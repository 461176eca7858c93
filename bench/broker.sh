#!/usr/bin/env bash
# The model gateway beside a direct connection: bench/broker.sh HONE [REQUESTS] [CALLS]. Prints one JSON object.
set -euo pipefail
build=$(dirname "$1")
cmake --build "$build" --target bench_broker >&2
exec "$build/bench/bench_broker" "${2:-3000}" "${3:-1000}" "$PWD/tests/scripted_model/scripted_model.py"
