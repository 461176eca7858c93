#!/usr/bin/env bash
# bench/runs.sh HONE_BINARY [RUNS]
# Runs in numbers, as one JSON object: from "queued" to the first byte of the harness with a warm layer, beside the same
# command started without Hone; an event from the worker to 200 live followers; 50 runs at once, with the memory of each.
set -euo pipefail
exec python3 "$(dirname "${BASH_SOURCE[0]}")/runs.py" "$(realpath "${1:?usage: bench/runs.sh HONE_BINARY [RUNS]}")" "${2:-40}"
