#!/usr/bin/env bash
# bench/git.sh HONE_BINARY [ROUNDS] [MIB]
# Repositories in numbers, as one JSON object: a worker's clone of a 200 MB mirror through the gateway beside `git clone`
# of the same repository from disk (over git's own protocol, and as a plain copy of the files); a small clone; a push
# until the worker hears that it was taken, which is after the listener was told; from there to the diff, and what a
# reviewer's page asks for; and the same for a repository of 100,000 files.
set -euo pipefail
exec python3 "$(dirname "${BASH_SOURCE[0]}")/git.py" "$(realpath "${1:?usage: bench/git.sh HONE_BINARY [ROUNDS] [MIB]}")" \
  "${2:-3}" "${3:-200}"
