#!/usr/bin/env bash
# bench/workbench.sh HONE_BINARY [STARTS [BATCHES]]
# From "start session" to the first tool call, for five small repositories, as one JSON object: cold (clone, setup from
# the package registries that this machine uses, through the broker) and warm (the setup's layer is there), the share of
# warm starts that found their layer, and the same commands on the host, without Hone. Then BATCHES of 25 runs (20: 500)
# on a server with small limits, and the bytes on its disk.
set -euo pipefail
exec python3 "$(dirname "${BASH_SOURCE[0]}")/workbench.py" "$(realpath "${1:?usage: bench/workbench.sh HONE_BINARY [STARTS [BATCHES]]}")" "${2:-10}" "${3:-20}"
