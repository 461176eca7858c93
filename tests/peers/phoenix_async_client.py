"""What people do with AsyncClient of arize-phoenix-client from PyPI, unmodified, against Hone: phoenix_async_client.py. Where to
and with which key say PHOENIX_BASE_URL and PHOENIX_API_KEY, as the client reads them. Every step asserts; the exit code tells."""

import asyncio
import base64
import datetime

import httpx
import pandas
from phoenix.client import AsyncClient
from phoenix.client.exceptions import SpanCreationError
from phoenix.client.types import PromptVersion

client = AsyncClient()


async def refused(waiting, kind, text=""):
    try:
        await waiting
    except kind as error:
        assert text in str(error), error
        return error
    raise AssertionError(f"{kind.__name__} was expected")


async def check_datasets():
    made = await client.datasets.create_dataset(
        name="by async",
        examples=[
            {"input": {"q": "one"}, "output": {"a": 1}, "splits": "train", "id": "first"},
            {"input": {"q": "two"}, "output": {"a": 2}, "splits": ["test", "hard"]},
            {"input": {"q": "three"}, "output": {"a": 3}, "splits": None, "span_id": "of no span"},
        ],
    )
    assert [example["id"] for example in made.examples][0] == "first" and len(made) == 3, made.examples
    again = await client.datasets.create_dataset(
        name="by async", inputs=[{"q": "one"}, {"q": "two"}, {"q": "three"}], outputs=[{"a": 1}, {"a": 2}, {"a": 3}]
    )
    assert again.version_id == made.version_id, "nothing changed, and yet there is a version"
    # An example by its own id, one by that of the server, one by its content, one new; one is gone.
    node_id = made[1]["id"]
    changed = await client.datasets.create_dataset(
        name="by async",
        examples=[
            {"input": {"q": "one"}, "output": {"a": 11}, "id": "first"},
            {"input": {"q": "two"}, "output": {"a": 2}, "metadata": {"seen": True}, "id": node_id},
            {"input": {"q": "four"}, "output": {"a": 4}},
        ],
    )
    assert sorted(example["output"]["a"] for example in changed.examples) == [2, 4, 11], changed.examples
    assert len(await client.datasets.get_dataset_versions(dataset="by async")) == 2
    copied = await client.datasets.create_dataset(name="copy of async", inputs=[{"q": "zero"}])
    more = await client.datasets.add_examples_to_dataset(dataset=copied, examples=changed.examples)
    assert [example["input"]["q"] for example in more.examples] == ["zero", "one", "two", "four"], more.examples
    old = await client.datasets.get_dataset(dataset="by async", splits=["test", "hard"], version_id=made.version_id)
    assert len(old) == 1 and set(old._filtered_split_names) == {"test", "hard"}, old
    assert (await client.datasets.get_dataset(dataset=changed.id))._filtered_split_names == []
    newest = [dataset["id"] for dataset in await client.datasets.list(limit=2)]
    assert newest == [copied.id, made.id], newest
    assert type(made).from_dict(made.to_dict()).to_dict() == made.to_dict()
    await refused(client.datasets.get_dataset(dataset="no such dataset"), ValueError, "Dataset not found")
    return changed


async def check_experiments(dataset):
    async def task(input, expected, metadata, example):
        assert example.id and example.updated_at and expected["a"], example
        return {"length": len(input["q"]), "metadata": metadata}

    def positive(output):
        return output["length"] > 0, "yes", "counted"

    def failing(output):
        raise ValueError("it is broken")

    ran = await client.experiments.run_experiment(
        dataset=dataset, task=task, evaluators={"positive": positive, "failing": failing}, experiment_name="async",
        experiment_metadata={"model": "none"}, print_summary=False, retries=0,
    )
    assert len(ran["task_runs"]) == 3 and len(ran["evaluation_runs"]) == 6, ran
    stored = await client.experiments.get_experiment(experiment_id=ran["experiment_id"])
    scores = {(run.name, run.result["score"], run.result["label"]) for run in stored["evaluation_runs"]}
    assert scores == {("positive", 1.0, "yes")}, scores  # the client leaves out what failed
    calls = []
    await client.experiments.resume_evaluation(
        experiment_id=ran["experiment_id"], evaluators={"failing": lambda output: calls.append(1) or 0.5, "positive": positive},
        print_summary=False,
    )
    assert len(calls) == 3, calls
    splits = await client.experiments.create(dataset_id=dataset.id, splits=["test"], repetitions=3)
    assert (splits["example_count"], splits["missing_run_count"]) == (1, 3), splits
    await refused(client.experiments.get(experiment_id=base64.b64encode(b"Experiment:999999").decode()), ValueError, "not found")
    rows = await client.experiments.list(dataset_id=dataset.id)
    assert [row["id"] for row in rows] == [splits["id"], ran["experiment_id"]], rows
    await check_runs(splits, dataset)


async def check_runs(experiment, dataset):
    """What the plugins send by themselves: a good run stays, a failed one is replaced."""
    example = (await client.datasets.get_dataset(dataset=dataset.id, splits=["test"])).examples[0]
    now = datetime.datetime.now(datetime.timezone.utc).isoformat()

    async def send(repetition, output, error=None):
        body = {"dataset_example_id": example["id"], "repetition_number": repetition, "output": output, "error": error}
        return await client._client.post(f"v1/experiments/{experiment['id']}/runs", json=body | {"start_time": now, "end_time": now})

    assert (await send(1, "good")).status_code == 200
    twice = await send(1, "other")
    assert twice.status_code == 409 and "already exists with a successful result" in twice.text, twice.text
    assert (await send(2, "half", "it failed")).status_code == 200
    assert (await send(2, "more", "again")).status_code == 200
    runs = (await client._client.get(f"v1/experiments/{experiment['id']}/runs")).json()["data"]
    assert {(run["output"], run.get("error")) for run in runs} == {("good", None), ("more", "again")}, runs
    assert (await send(2, "whole")).status_code == 200 and (await send(2, "once more")).status_code == 409


async def check_prompts():
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False}
    tool = {"type": "function", "function": {"name": "weather", "description": "of a city", "parameters": schema, "strict": True}}
    for choice in ("none", "auto", "required", {"type": "function", "function": {"name": "weather"}}):
        version = PromptVersion.from_openai(
            {
                "model": "gpt-x", "temperature": 0.25, "top_p": 0.5, "seed": 7, "tools": [tool], "tool_choice": choice,
                "messages": [
                    {"role": "developer", "content": [{"type": "text", "text": "You are {role}."}]},
                    {"role": "user", "content": "Where is {city}?"},
                    {"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}]},
                    {"role": "tool", "tool_call_id": "1", "content": [{"type": "text", "text": "sun"}]},
                ],
                "response_format": {"type": "json_schema", "json_schema": {"name": "city", "schema": schema, "strict": True}},
            },
            template_format="F_STRING",
        )
        made = await client.prompts.create(name="weather", version=version)
        read = await client.prompts.get(prompt_identifier="weather")
        assert read.id == made.id and read._dumps() == version._dumps(), (read._dumps(), version._dumps())
        assert read.format(variables={"role": "kind", "city": "Rome"}).kwargs["tool_choice"] == choice, choice
    anthropic = PromptVersion.from_anthropic(
        {
            "model": "claude-x", "max_tokens": 100, "system": "You are kind.", "stop_sequences": ["END"],
            "messages": [{"role": "user", "content": "Hello {{who}}"}],
            "tools": [{"name": "weather", "input_schema": schema}], "tool_choice": {"type": "tool", "name": "weather"},
        }
    )
    made = await client.prompts.create(name="greeting", version=anthropic)
    read = await client.prompts.get(prompt_version_id=made.id)
    assert read._dumps() == anthropic._dumps(), (read._dumps(), anthropic._dumps())
    assert read.format(variables={"who": "Ada"}).kwargs["max_tokens"] == 100


def span(trace, name, **more):
    now = datetime.datetime.now(datetime.timezone.utc)
    return {
        "name": name, "context": {"trace_id": trace, "span_id": f"{trace} {name}"}, "span_kind": "CHAIN", "status_code": "OK",
        "start_time": now.isoformat(), "end_time": (now + datetime.timedelta(seconds=1)).isoformat(),
    } | more


async def read_until(count, **more):
    for _ in range(100):
        found = await client.spans.get_spans(project_identifier="async spans", **more)
        if len(found) >= count:
            return found
        await asyncio.sleep(0.1)
    raise AssertionError(f"{len(found)} of {count} spans")


async def check_spans():
    event = {"name": "seen", "timestamp": datetime.datetime.now(datetime.timezone.utc).isoformat(), "attributes": {"by": "me"}}
    messages = [{"message.role": "user", "message.content": "Hi"}, {"message.role": "assistant", "message.content": "Hello"}]
    attributes = {
        "input.value": "Hi", "llm.token_count.total": 34, "llm.input_messages": messages, "url": {"full": "https://x", "path": "/x"},
        "llm.invocation_parameters": '{"temperature": 1.0}',
    }
    sent = [span("a trace", "root", attributes={"time_index": 1}, events=[event]), span("a trace", "child", parent_id="a trace root")]
    sent.append(span("another", "call", span_kind="LLM", attributes=attributes))
    assert (await client.spans.log_spans(project_identifier="async spans", spans=sent))["total_queued"] == 3
    found = {one["name"]: one for one in await read_until(3)}
    assert found["root"]["attributes"]["time_index"] == 1 and found["root"]["events"][0]["name"] == "seen", found
    assert found["child"]["parent_id"] == "a trace root" == found["root"]["context"]["span_id"], found
    assert found["call"]["attributes"]["llm.input_messages.1.message.content"] == "Hello", found["call"]
    assert found["call"]["attributes"]["url.path"] == "/x", found["call"]
    frame = await client.spans.get_spans_dataframe(project_identifier="async spans")
    row = frame.loc["another call"]
    assert {key: row[f"attributes.{key}"] for key in attributes} == attributes, dict(row)
    assert str(row["attributes.llm.input_messages"]) == str(messages), row["attributes.llm.input_messages"]
    assert [one["name"] for one in await read_until(1, span_kind="LLM")] == ["call"]
    assert len(await client.spans.get_spans(project_identifier="async spans", limit=1)) == 1
    later = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=1)
    assert await client.spans.get_spans(project_identifier="async spans", start_time=later) == []
    twice = await refused(client.spans.log_spans(project_identifier="async spans", spans=sent[:1]), SpanCreationError)
    assert (twice.total_duplicates, twice.total_queued) == (1, 0), twice
    wrong = span("a trace", "wrong", start_time="yesterday")
    invalid = await refused(client.spans.log_spans(project_identifier="async spans", spans=[wrong]), SpanCreationError)
    assert (invalid.total_invalid, invalid.total_queued) == (1, 0), invalid
    await refused(client.spans.get_spans(project_identifier="no such project"), httpx.HTTPStatusError)


async def check_annotations():
    for name, kind, label in (("tone", "LLM", "kind"), ("length", "CODE", "short")):
        await client.spans.add_span_annotation(
            span_id="another call", annotation_name=name, annotator_kind=kind, label=label, score=0.5, explanation="read", sync=True
        )
    table = pandas.DataFrame({"name": ["tone", "tone"], "span_id": ["a trace root", "a trace child"], "label": ["rude", "kind"],
                              "annotator_kind": ["HUMAN", "HUMAN"], "score": [0, 1], "metadata": [{"by": "me"}, {}]})
    ids = await client.spans.log_span_annotations_dataframe(dataframe=table, sync=True)
    assert len(ids) == 2, ids
    again = await client.spans.log_span_annotations_dataframe(dataframe=table, sync=True)
    assert [one["id"] for one in again] == [one["id"] for one in ids], "an update keeps its id"
    everything = ["another call", "a trace root", "a trace child", "another call"]
    notes = await client.spans.get_span_annotations(span_ids=everything, project_identifier="async spans")
    assert {(note["span_id"], note["name"], note["result"]["label"]) for note in notes} == {
        ("another call", "tone", "kind"), ("another call", "length", "short"), ("a trace root", "tone", "rude"),
        ("a trace child", "tone", "kind")}, notes
    frame = await client.spans.get_span_annotations_dataframe(
        span_ids=everything, project_identifier="async spans", exclude_annotation_names=["tone"]
    )
    assert set(frame["annotation_name"]) == {"length"} and frame.iloc[0]["result.score"] == 0.5, frame


async def check_traces():
    project = "async spans"
    traces = await client.traces.get_traces(project_identifier=project, include_spans=True)
    assert {trace["trace_id"]: len(trace["spans"]) for trace in traces} == {"a trace": 2, "another": 1}, traces
    made = await client.traces.add_trace_annotation(trace_id="a trace", annotation_name="useful", label="yes", sync=True)
    assert made["id"], made
    bad = span("a failed one", "step", status_code="ERROR", attributes={"session.id": "a chat"})
    await client.spans.log_spans(project_identifier=project, spans=[bad])
    await read_until(4)
    for wanted, names in (({"error": True}, {"a failed one"}), ({"error": False}, {"a trace", "another"}),
                          ({"min_latency_ms": 100, "max_latency_ms": 60_000, "session_id": "a chat"}, {"a failed one"}),
                          ({"max_latency_ms": 10}, set())):
        found = await client.traces.get_traces(project_identifier=project, **wanted)
        assert {trace["trace_id"] for trace in found} == names, (wanted, found)
    sessions = await client.sessions.list(project_name=project)
    assert [session["session_id"] for session in sessions] == ["a chat"], sessions
    assert (await client.sessions.get(session_id="a chat"))["traces"][0]["trace_id"] == "a failed one"
    await client.sessions.add_session_annotation(session_id="a chat", annotation_name="solved", label="no", sync=True)
    assert len(await client.sessions.get_session_turns(session_id="a chat")) == 1


async def main():
    dataset = await check_datasets()
    await check_experiments(dataset)
    await check_prompts()
    await check_spans()
    await check_annotations()
    await check_traces()


asyncio.run(main())
