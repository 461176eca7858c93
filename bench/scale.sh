#!/usr/bin/env bash
# bench/scale.sh HONE_BINARY [SECONDS] [PERCENT]
# Several servers on one PostgreSQL and one span store, as one JSON object: 1, 2 and 4 servers, each with all roles and with
# PERCENT (15) of one core, so that servers are what there is too little of and this machine has room for four. Clients are
# processes of their own. Changes (each with its audit entry), reads, spans, runs from queue to end, each with what was busy
# meanwhile; "grown": how many times one server's number that is, and which part was the limit; the time until the others see
# that a server is dead. Needs root and the cgroup controller cpu.
set -euo pipefail
exec python3 "$(dirname "${BASH_SOURCE[0]}")/scale.py" "$(realpath "${1:?usage: bench/scale.sh HONE_BINARY [SECONDS] [PERCENT]}")" "${2:-10}" "${3:-15}"
