"""Examples from what the server has: turns of chat sessions."""

from server import Server
from telemetry import key_of, otlp_json, rows
from trace_commands import Hone


def test_turns_of_a_chat_session_become_examples_with_the_conversation_before_them(binary, stack):
    server = stack.enter_context(Server(binary))
    client = server.client(key_of(server))
    hone = Hone(server, key_of(server))
    said = [("a red shirt, please", "Which size?"), ("large, key sk-ant-api03-" + "a" * 40, "Two are left."), ("both", "Done.")]
    for number, (question, reply) in enumerate(said, 1):  # one after the other: the times of the turns differ
        attributes = {"input.value": question, "output.value": reply, "session.id": "visit-17"}
        assert client.post("/v1/traces", otlp_json([(number, number, 0, "chat", attributes)])).status == 200
    alone = {"input.value": "hello", "output.value": "hi"}
    assert client.post("/v1/traces", otlp_json([(9, 9, 0, "chat", alone)])).status == 200
    rows(client, "/v1/projects/shop/span_rows", 4)

    third = f"{3:032x}"
    added = hone.json("dataset", "add-turns", "turns", "--project", "shop", "--trace", third, "--split", "late")
    assert (added["num_created_examples"], added["num_redacted_texts"]) == (1, 0), added  # redacted when they were received
    (example,) = client.must("GET", "/v1/datasets/turns/examples?split=late").data["examples"]
    assert example["input"] == {
        "input": "both",
        "messages": [
            {"role": "user", "content": "a red shirt, please"},
            {"role": "assistant", "content": "Which size?"},
            {"role": "user", "content": "large, key [redacted]"},
            {"role": "assistant", "content": "Two are left."},
            {"role": "user", "content": "both"},
        ],
    }, example
    assert example["output"] == {"output": "Done."}, example
    assert (example["metadata"]["session_id"], example["metadata"]["turn"]) == ("visit-17", 3), example
    assert example["source"]["span_id"] == f"{3:016x}", example

    # All turns of the session; the third is there already.
    added = hone.json("dataset", "add-turns", "turns", "--project", "shop", "--session", "visit-17")
    assert (added["num_created_examples"], added["num_updated_examples"]) == (2, 0), added
    examples = client.must("GET", "/v1/datasets/turns/examples").data["examples"]
    assert sorted(len(each["input"]["messages"]) for each in examples) == [1, 3, 5], examples

    post = lambda body: client.post("/v1/datasets/from_chat_session", {"project": "shop", "name": "turns"} | body)
    for body, status, text in (
        ({}, 422, "give session, trace_ids, or both"),
        ({"session": "none"}, 404, "chat session none"),
        ({"trace_ids": [f"{9:032x}"]}, 404, "of a chat session"),
        ({"trace_ids": [f"{9:032x}"], "session": "visit-17"}, 404, "of the chat session visit-17"),
        ({"trace_ids": ["zz"]}, 422, "32 hexadecimal digits"),
        ({"trace_ids": [third] * 201}, 422, "at most 200"),
    ):
        refused = post(body)
        assert refused.status == status and text in refused.text, (body, refused.status, refused.text)
    # The conversation of a turn can be run again, although its span has only the last text.
    task = hone.json("experiment", "run", "turns", "--replay", "--command", "cat")["task"]
    assert (task["successful_runs"], task["not_replayed"]) == (3, 0), task
    outputs = [run["output"]["input"] for run in client.must("GET", f"/v1/experiments/{task['experiment_id']}/runs").data]
    assert sorted(len(each["messages"]) if "messages" in each else 1 for each in outputs) == [1, 3, 5], outputs
