#!/usr/bin/env bash
# bench/ingest_http.sh HONE [SECONDS [OVERLOAD_SECONDS [PEER_URL]]]
# The spans of ./dev bench ingest over OTLP/HTTP into a whole server, the senders on the same machine: stored spans a second,
# latency of 1, 8 and 64 connections. With OVERLOAD_SECONDS then an overload of that length with a small span log: memory and
# log over its time, refusals. With PEER_URL, the address of another receiver that takes OTLP in protobuf, the same load is
# sent to it in the same run. Prints one JSON object.
set -euo pipefail
build=$(dirname "$(realpath "${1:?usage: bench/ingest_http.sh HONE [SECONDS [OVERLOAD_SECONDS [PEER_URL]]]}")")
cmake --build "$build" --target bench_ingest_http hone >&2
exec python3 "$(dirname "${BASH_SOURCE[0]}")/ingest_http.py" "$build" "${2:-20}" "${3:-0}" "${4:-}"
