"""Evaluators that return several results at once: each is an eval of its own, in experiments, comparisons and online."""

import json

from experiments import DOUBLE, ended, evaluator, laboratory, start
from server import wait_until
from telemetry import otlp_json, rows

# The code of `answer` fails for the third example, so that its run has one eval with the reason.
ANSWER = """
def evaluate(document):
    number = document["output"]
    if number == 4:
        return [{"name": "right", "score": 1}, {"name": "right", "score": 0}]
    right = number == document["reference"]["answer"]
    return [
        {"name": "right", "score": 1 if right else 0, "explanation": f"it is {number}"},
        {"name": "answer.small", "score": 1 if number < 3 else 0, "metadata": {"limit": 3}},
    ]
"""


def test_several_results_of_code_are_evals_of_their_own(binary, stack):
    server, client, hone, folder = laboratory(binary, stack, 3)
    evaluator(hone, folder, "answer", ANSWER, "--range", "0..1")
    documents = "\n".join(json.dumps({"output": n, "reference": {"answer": 2}}) for n in (2, 4))
    tested = hone.json("evaluator", "test", "answer", "-", text=documents)
    assert [one["name"] for one in tested[0]["verdict"]["results"]] == ["answer.right", "answer.small"], tested
    assert tested[0]["verdict"]["score"] is None and tested[0]["verdict"]["results"][1]["metadata"] == {"limit": 3}, tested
    assert tested[1]["verdict"] is None and "answer.right is there twice" in tested[1]["error"], tested
    assert tested[1]["reason"] == "off_config", tested
    assert "answer.right" in hone.run("evaluator", "test", "answer", "-", text=documents).stdout

    (folder / "double.py").write_text(DOUBLE)
    task = {"kind": "command", "command": "python3 double.py", "files": {"double.py": DOUBLE}}
    made = [start(client, task, evaluators=["answer"]) for _ in range(2)]
    for experiment in made:
        done = ended(client, experiment)
        (counts,) = done["evaluators"]
        assert done["state"] == "done" and (counts["evals"], counts["failed_evals"]) == (2, 1), done
    records = client.must("GET", f"/v1/experiments/{made[0]}/json").json
    evals = sorted((one["name"], one["score"]) for record in records for one in record["annotations"])
    assert evals == [("answer", None), ("answer.right", 1), ("answer.right", 1), ("answer.small", 1), ("answer.small", 1)], evals
    # Evaluated runs stay as they are; only the one that failed is tried again.
    client.must("POST", f"/v1/experiments/{made[0]}/resume", {})
    assert ended(client, made[0])["evaluators"][0]["evals"] == 2
    again = client.must("GET", f"/v1/experiments/{made[0]}/json").json
    times = lambda found: {(one["name"], one["start_time"]) for record in found for one in record["annotations"] if not one["error"]}
    assert times(again) == times(records), again

    compared = client.must("GET", f"/v1/experiments/compare?base={made[0]}&other={made[1]}").data
    assert [metric["name"] for metric in compared["metrics"]] == ["answer.right", "answer.small"], compared["metrics"]
    shown = hone.run("experiment", "compare", *made, "--dataset", "numbers").stdout
    assert "answer.right" in shown and "answer.small" in shown, shown


def test_several_results_of_a_task_are_evals_of_the_span(binary, stack):
    server, client, hone, folder = laboratory(binary, stack, 1)
    source = 'def evaluate(document):\n    return {"results": [{"name": "short", "label": "pass"}, {"name": "tone", "label": "fail"}]}\n'
    evaluator(hone, folder, "tone", source)
    client.must("POST", "/v1/traces", otlp_json([(1, 1, 0, "ask", {"input.value": "a", "output.value": "b"})]))
    rows(client, "/v1/projects/shop/span_rows", 1)
    hone.json("eval-task", "create", "tone", "--project", "shop", "--target", "span")
    client.must("POST", "/v1/traces", otlp_json([(2, 2, 0, "ask", {"input.value": "c", "output.value": "d"})]))

    def found():
        evals = client.must("GET", f"/v1/projects/shop/evals?target=span&target_id={2:016x}").data
        return sorted((one["name"], one["label"], one["score"]) for one in evals) if len(evals) == 2 else None

    evals = wait_until(found, "both evals are there", 60)
    assert evals == [("tone", "fail", 0), ("tone.short", "pass", 1)], evals
