#!/usr/bin/env bash
# bench/scale.sh HONE_BINARY [SECONDS]
# Several servers on one PostgreSQL and one span store, as one JSON object: 1, 2 and 4 servers, each with all roles. Changes
# per second (each with its audit entry), reads, accepted spans, runs from queue to end; the time until the others see that
# a server is dead. The clients run on the same machine.
set -euo pipefail
exec python3 "$(dirname "${BASH_SOURCE[0]}")/scale.py" "$(realpath "${1:?usage: bench/scale.sh HONE_BINARY [SECONDS]}")" "${2:-10}"
