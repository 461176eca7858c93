#!/usr/bin/env bash
# bench/workbench.sh HONE_BINARY [STARTS]
# From "start session" to the first tool call, for five small repositories, as one JSON object: cold (clone, setup from
# the package registries that this machine uses, through the broker) and warm (the setup's layer is there), the share of
# warm starts that found their layer, and the same commands on the host, without Hone.
set -euo pipefail
exec python3 "$(dirname "${BASH_SOURCE[0]}")/workbench.py" "$(realpath "${1:?usage: bench/workbench.sh HONE_BINARY [STARTS]}")" "${2:-10}"
