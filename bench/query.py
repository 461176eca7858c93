"""Sizes one after the other, and the growth of each query between them. See query.sh."""

import json
import math
import subprocess
import sys

MOST = 1.3  # times the time for four times the spans, where an index can serve
# These read all rows of their time, so that they grow with the spans in it.
READ_ALL = ("percentiles_of_a_day", "count_and_errors_of_a_week", "cost_by_model_of_a_week", "attribute_keys_of_a_day")


def growth(small, large):
    more = large["spans"] / small["spans"]
    rows = {}
    for query, before in small["median_ms"].items():
        ratio = large["median_ms"][query] / max(before, 0.1)
        rows[query] = {"times": round(ratio, 2)}
        if not query.startswith("facet_") and query not in READ_ALL:
            rows[query]["is_over"] = ratio > MOST ** math.log(more, 4)
    return {"from": small["spans"], "to": large["spans"], "spans_times": round(more, 2), "growth": rows}


def main():
    program, sizes = sys.argv[1], [int(size) for size in sys.argv[2:]]
    measured = []
    for size in sizes:
        ran = subprocess.run([program, str(size)], stdout=subprocess.PIPE, text=True)
        if ran.returncode != 0:
            sys.exit(f"{size} spans: the benchmark ended with {ran.returncode}")
        measured.append(json.loads(ran.stdout))
        print(json.dumps(measured[-1]), flush=True)
    print(json.dumps([growth(small, large) for small, large in zip(measured, measured[1:])], indent=1))


main()
