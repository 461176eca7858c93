"""Files in examples: artifacts of runs, checked when they are named, kept while they are, and given to evaluators."""

import json

from experiments import ended, start
from runs import Shop, shell
from telemetry import key_of
from trace_commands import Hone

# The smallest picture: one white point.
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
SEES = """
def evaluate(document):
    file = document["input"]["picture"]
    with open(file["path"], "rb") as picture:
        content = picture.read()
    return {"label": str(content[1:4] == b"PNG" and len(content) == file["bytes"]).lower(), "explanation": file["name"]}
"""


def test_an_example_names_an_artifact_which_evaluators_get_and_nobody_deletes(binary, stack):
    shop = Shop(binary, stack)
    client = shop.client
    script = f"echo {PIXEL} | base64 -d > pixel.png; hone save_file --name pixel.png --file pixel.png; hone save_file --name note.txt --text note"
    run = shop.start(*shell(script))["id"]
    assert shop.until(run)["state"] == "succeeded", shop.texts(run)
    saved = {each["name"]: each["id"] for each in client.must("GET", f"/v1/artifacts?run={run}").data}
    picture = {"$file": saved["pixel.png"]}

    post = lambda value, query="": client.post(f"/v1/datasets/upload{query}", {"action": "append", "name": "pictures", "inputs": [{"picture": value}]})
    client.must("POST", "/v1/spaces", {"name": "elsewhere"})
    for value, query, why in (
        ({"$file": "artifact_" + "0" * 26}, "", "example 1: the file artifact_"),
        ({"$file": "../../etc/passwd"}, "", "must name an artifact"),
        ({"$file": None}, "", "must name an artifact"),
        (picture, "?space=elsewhere", "is not in this space"),
    ):
        refused = post(value, query)
        assert refused.status == 422 and why in refused.text, (value, refused.status, refused.text)
    made = post(picture)
    assert made.status == 200, made.text
    # The same by a file, which is imported piece by piece.
    lines = json.dumps({"input": {"picture": {"$file": saved["note.txt"]}}, "output": {}}) + "\n"
    hone = Hone(shop.server, key_of(shop.server))
    assert hone.json("dataset", "push", "notes", "-", text=lines)["num_created_examples"] == 1
    wrong = hone.run("dataset", "push", "notes", "-", text=lines.replace(saved["note.txt"], "artifact_" + "0" * 26), status=8)
    assert "is not in this space" in wrong.stderr, wrong

    # Code gets the content, a model gets nothing but images.
    file = shop.server.data_dir.parent / "sees.py"
    file.write_text(SEES)
    stack.callback(file.unlink)
    hone.json("evaluator", "create", "sees", "--code", str(file))
    for dataset, verdict in (("pictures", "true"), ("notes", "false")):
        experiment = start(client, {"kind": "command", "command": "echo 1"}, dataset, evaluators=["sees"])
        assert ended(client, experiment)["evaluators"][0]["evals"] == 1
        (record,) = client.must("GET", f"/v1/experiments/{experiment}/json").json
        (eval,) = record["annotations"]
        assert (eval["label"], eval["error"]) == (verdict, None), eval
    assert eval["explanation"] == "note.txt", eval

    # Versions of a dataset do not change: neither the artifact nor its content goes.
    for artifact in saved.values():
        kept = client.call("DELETE", f"/v1/artifacts/{artifact}")
        assert kept.status == 409 and "an example of a dataset names it" in kept.text, kept.text
    client.must("DELETE", "/v1/datasets/pictures", status=204)
    assert client.call("DELETE", f"/v1/artifacts/{saved['pixel.png']}").status == 204
    assert client.call("DELETE", f"/v1/artifacts/{saved['note.txt']}").status == 409
