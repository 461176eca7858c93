#!/usr/bin/env bash
# bench/kubernetes.sh HONE_BINARY [PODS]
# Sandboxes in pods of a real cluster of one node (tests/kubernetes: needs root and Go), beside sandboxes of this machine in the
# same run, as one JSON object: cold and prepared starts, a command, a request to the broker's port and back, bytes per second,
# PODS (50) at the same time up and down, the way back after a restart of the API server, memory of the server for each channel;
# model calls and tokens through the gateway of a server (kubernetes_models.py), and what a pod adds to each.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
hone=$(realpath "${1:?usage: bench/kubernetes.sh HONE_BINARY [PODS]}")
cmake --build "$(dirname "$hone")" --target kubernetes_client provider_driver hone-pod >&2
exec python3 bench/kubernetes.py "$hone" "${2:-50}"
