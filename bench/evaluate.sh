#!/usr/bin/env bash
# Datasets, experiments and evaluators: bench/evaluate.py explains.
set -euo pipefail
cmake --build "$(dirname "$1")" --target bench_evaluate >&2
exec python3 "$(dirname "$0")/evaluate.py" "$@"
