#!/usr/bin/env bash
# bench/sandbox.sh HONE_BINARY [RUNS] [bench_sandbox options]
# Sandboxes in numbers, as one JSON object with ratios of the same run: start-to-exit of `true` beside posix_spawn, bwrap,
# crun and runsc (prepared, unprepared, as a command, from a 1 GB process); a 500 MB layer of 50,000 files; the fork of a
# 500 MB thread; a hundred at once with what they leave behind. Needs root, bubblewrap, crun and runsc.
set -euo pipefail
hone=$(realpath "${1:?usage: bench/sandbox.sh HONE_BINARY [RUNS] [OPTIONS]}")
runs=${2:-200}
shift $(($# < 2 ? $# : 2))
build=$(dirname "$hone")
[ "$(id -u)" = 0 ] || { echo "bench/sandbox.sh: needs root, as crun and runsc do" >&2; exit 2; }
cmake --build "$build" --target bench_sandbox hone >&2
exec "$build/bench/bench_sandbox" "$hone" --runs "$runs" "$@"
