#!/usr/bin/env bash
# bench/ingest_http.sh HONE [SECONDS [OVERLOAD_SECONDS [PEER]]]
# The spans of ./dev bench ingest over OTLP/HTTP into a whole server, the senders on the same machine: stored spans a second,
# latency of 1, 8 and 64 connections, time until a span is visible at half of that rate, CPU, disk and memory. With
# OVERLOAD_SECONDS then an overload of that length with a small span log: memory, disk and log over its time, refusals; 600
# of them say whether memory grows. With PEER the same load is sent to another receiver in the same run: the address of one
# that takes OTLP in protobuf, or `victoria`, VictoriaTraces built from the Go module proxy.
# Prints one JSON object. Fails when a span that was acknowledged is not stored, when the memory of server or engine grows by more
# than 15 % from the second to the last quarter of the overload, or when a refusal has no Retry-After.
set -euo pipefail
build=$(dirname "$(realpath "${1:?usage: bench/ingest_http.sh HONE [SECONDS [OVERLOAD_SECONDS [PEER]]]}")")
cmake --build "$build" --target bench_ingest_http hone >&2
exec python3 "$(dirname "${BASH_SOURCE[0]}")/ingest_http.py" "$build" "${2:-20}" "${3:-0}" "${4:-}"
