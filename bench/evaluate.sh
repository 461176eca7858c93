#!/usr/bin/env bash
# Datasets and experiments: bench/evaluate.py explains.
set -euo pipefail
exec python3 "$(dirname "$0")/evaluate.py" "$@"
