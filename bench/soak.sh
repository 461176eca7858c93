#!/usr/bin/env bash
# bench/soak.sh HONE_BINARY [SECONDS] [SERVERS]
# A long time (two hours) at half of the capacity that is measured first, with runs and queries, as one JSON object: latencies
# by quarter of the time, memory, files, threads and disk at each minute, what was lost or doubled. It fails (status 1) when
# anything was, or when memory, disk, files or threads are not flat (from 20 minutes on; the rule is in soak.py). SERVERS 1 (default): SQLite
# and the embedded engine; more: on one PostgreSQL and one span store.
set -euo pipefail
exec python3 "$(dirname "${BASH_SOURCE[0]}")/soak.py" "$(realpath "${1:?usage: bench/soak.sh HONE_BINARY [SECONDS] [SERVERS]}")" "${2:-7200}" "${3:-1}"
