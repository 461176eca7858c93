#!/usr/bin/env bash
# bench/face.sh HONE_BINARY [SPANS [REPEATS]]
# The page of one trace in Chromium: from the click in the list, and from a new page load, to a tree that reacts to a key;
# for a trace of SPANS (50,000) and, as the baseline of the same run, one of 500. Prints one JSON object.
# HONE_UI_DIR replaces the embedded UI; CHROMIUM names the browser (/usr/bin/chromium).
set -euo pipefail
binary=$(realpath "${1:?usage: bench/face.sh HONE_BINARY [SPANS [REPEATS]]}")
exec node "$(dirname "${BASH_SOURCE[0]}")/face.mjs" "$binary" "${2:-50000}" "${3:-7}"
