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
