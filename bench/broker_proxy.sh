#!/usr/bin/env bash
# The egress proxy beside a direct connection: bench/broker_proxy.sh HONE [MEGABYTES] [REQUESTS]. Prints one JSON object.
set -euo pipefail
build=$(dirname "$1")
cmake --build "$build" --target bench_broker_proxy >&2
exec "$build/bench/bench_broker_proxy" "${2:-512}" "${3:-3000}"
