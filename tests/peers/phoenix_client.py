"""What people do with arize-phoenix-client from PyPI, unmodified, against Hone: phoenix_client.py. Where to and with which key
say PHOENIX_BASE_URL and PHOENIX_API_KEY, as the client reads them. Every step asserts; the exit code tells."""

import pandas
from phoenix.client import Client

client = Client()

# Datasets: from lists and from a table, read back, appended to, found by name, compared by version.
made = client.datasets.create_dataset(
    name="by python",
    inputs=[{"q": "one"}, {"q": "two"}],
    outputs=[{"answer": "1"}, {"answer": "2"}],
    metadata=[{"level": 1}, {}],
    dataset_description="numbers",
)
assert made.name == "by python" and len(made) == 2, made
read = client.datasets.get_dataset(dataset="by python")
assert read.id == made.id and [example["input"] for example in read.examples] == [{"q": "one"}, {"q": "two"}]
assert read.created_at is not None and read.created_at.year >= 2026, read.created_at
assert client.datasets.get_dataset(dataset=made.id).version_id == made.version_id
more = client.datasets.add_examples_to_dataset(dataset="by python", inputs=[{"q": "three"}], outputs=[{"answer": "3"}])
assert len(more) == 3 and more.version_id != made.version_id
old = client.datasets.get_dataset(dataset="by python", version_id=made.version_id)
assert len(old) == 2, old
versions = client.datasets.get_dataset_versions(dataset="by python")
assert [version["version_id"] for version in versions] == [more.version_id, made.version_id], versions
table = pandas.DataFrame({"question": ["how, why?", "what"], "reply": ["so", ""], "level": [1, 2]})
framed = client.datasets.create_dataset(
    name="a table", dataframe=table, input_keys=["question"], output_keys=["reply"], metadata_keys=["level"]
)
assert framed.examples[0]["input"] == {"question": "how, why?"}, framed.examples
assert any(dataset["name"] == "a table" for dataset in client.datasets.list())

# Experiments: run, failed once, resumed, evaluated later.
failing = True


def task(input):
    if input["q"] == "two" and failing:
        raise ValueError("no two")
    return {"one": "1", "two": "2", "three": "x"}[input["q"]]


def correct(output, expected):
    return output == expected["answer"]


ran = client.experiments.run_experiment(
    dataset=more, task=task, evaluators=[correct], experiment_name="first", print_summary=False, retries=0
)
stored = client.experiments.get_experiment(experiment_id=ran["experiment_id"])
assert len(stored["task_runs"]) == 3, stored
failing = False
client.experiments.resume_experiment(
    experiment_id=ran["experiment_id"], task=task, evaluators=[correct], print_summary=False
)
info = client.experiments.get(experiment_id=ran["experiment_id"])
assert (info["successful_run_count"], info["failed_run_count"], info["missing_run_count"]) == (3, 0, 0), info


def long(output):
    return {"score": len(output), "label": "short", "explanation": "counted"}


client.experiments.evaluate_experiment(experiment=stored, evaluators=[long], print_summary=False)
assert len(client.experiments.list(dataset_id=made.id)) == 1
client.experiments.delete(experiment_id=ran["experiment_id"])
assert client.experiments.list(dataset_id=made.id) == []

# Prompts.
from phoenix.client.types import PromptVersion  # noqa: E402

version = PromptVersion(
    [{"role": "user", "content": "Hello {{who}}"}], model_name="gpt-x", model_provider="OPENAI", template_format="MUSTACHE"
)
prompt = client.prompts.create(name="greet", version=version, prompt_description="says hello")
client.prompts.tags.create(prompt_version_id=prompt.id, name="production")
live = client.prompts.get(prompt_identifier="greet", tag="production")
assert live.id == prompt.id
assert live.format(variables={"who": "Ada"}).messages[0]["content"] == "Hello Ada"
assert [tag["name"] for tag in client.prompts.tags.list(prompt_version_id=prompt.id)] == ["production"]

# Spans with ids of another system: logged, read as a table, searched for documents, annotated, deleted.
import datetime  # noqa: E402
import time  # noqa: E402

from phoenix.client.helpers.spans import get_input_output_context, get_retrieved_documents  # noqa: E402
from phoenix.client.types.spans import SpanQuery  # noqa: E402

begin = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(minutes=1)


def a_span(span, parent=None, kind="CHAIN", attributes=None):
    return {
        "name": span,
        "context": {"trace_id": "order 7", "span_id": span},
        "parent_id": parent,
        "span_kind": kind,
        "start_time": begin.isoformat(),
        "end_time": (begin + datetime.timedelta(seconds=2)).isoformat(),
        "status_code": "OK",
        "attributes": attributes or {},
    }


def documents(*texts):
    return {"input": {"value": "why?"}, "retrieval": {"documents": [{"document": {"content": text}} for text in texts]}}


answered = {"input.value": "why?", "output.value": "so", "metadata": {"topic": "reasons"}}
logged = client.spans.log_spans(
    project_identifier="python spans",
    spans=[
        a_span("root step", attributes=answered),
        a_span("search one", "root step", "RETRIEVER", documents("because", "since")),
        a_span("search two", "root step", "RETRIEVER", documents("as")),
    ],
)
assert logged["total_queued"] == 3, logged
for _ in range(100):
    if len(client.spans.get_spans(project_identifier="python spans")) == 3:
        break
    time.sleep(0.1)
frame = client.spans.get_spans_dataframe(project_identifier="python spans")
assert set(frame.index) == {"root step", "search one", "search two"} and frame.index.name == "context.span_id", frame
assert frame.loc["root step", "attributes.metadata"] == {"topic": "reasons"}, frame
assert frame["start_time"].dt.tz is not None and (frame["context.trace_id"] == "order 7").all(), frame.dtypes
only = client.spans.get_spans_dataframe(
    query=SpanQuery().where("span_kind == 'RETRIEVER' and 'why' in input.value").select("name", "parent_id"),
    project_identifier="python spans",
)
assert set(only["name"]) == {"search one", "search two"} and set(only["parent_id"]) == {"root step"}, only
retrieved = get_retrieved_documents(client, project_name="python spans")
assert list(retrieved.index.names) == ["context.span_id", "document_position"], retrieved
assert sorted(retrieved["document"]) == ["as", "because", "since"], retrieved
context = get_input_output_context(client, project_name="python spans")
assert context.loc["root step", "output"] == "so" and context.loc["root step", "input"] == "why?", context
assert set(context.loc["root step", "context"].split("\n\n")) == {"because", "since", "as"}, context
client.spans.add_span_annotation(
    span_id="search one", annotation_name="tone", annotator_kind="HUMAN", label="kind", sync=True
)
notes = client.spans.get_span_annotations(span_ids=["search one"], project_identifier="python spans")
assert [(note["span_id"], note["name"]) for note in notes] == [("search one", "tone")], notes
client.spans.delete(span_identifier="search two")
assert len(client.spans.get_spans_dataframe(project_identifier="python spans")) == 2
