"""Prompts against models: experiments of kind prompt, the playground, protected tags, and datasets in workers' tools."""

import json
import signal

from experiments import ended, runs_of, start
from models import KEY, Provider
from runs import Shop
from server import Server, wait_until
from telemetry import key_of, otlp_json, rows
from trace_commands import Hone


def content(text="{{question}}", model="gpt-4o", **more):
    messages = [{"role": "system", "content": "Answer briefly."}, {"role": "user", "content": text}]
    return {"model_provider": "OPENAI", "model_name": model, "template_type": "CHAT", "template_format": "MUSTACHE",
            "template": {"type": "chat", "messages": messages},
            "invocation_parameters": {"type": "openai", "openai": {"temperature": 0.5, "max_tokens": 100}}} | more


def create_prompt(client, name="greet", **more):
    return client.must("POST", "/v1/prompts", {"prompt": {"name": name}, "version": content(**more)}).data["id"]


def add_skill(client, provider, play, protocol="openai", name="model", **variables):
    body = {"name": name, "type": "model", "secrets": {"API_KEY": KEY},
            "variables": {"PROTOCOL": protocol, "BASE_URL": f"{provider.url}/play/{play}", "ALLOW_PRIVATE": "true"} | variables}
    return client.must("POST", "/v1/skills", body).data["id"]


def bench(binary, stack, play="exact", examples=3, **more):
    server = stack.enter_context(Server(binary))
    provider = Provider(stack)
    client = server.admin()
    lists = {"inputs": [{"question": f"question {n}"} for n in range(examples)],
             "outputs": [{"answer": "the hidden reference"} for _ in range(examples)]}
    client.must("POST", "/v1/datasets/upload", {"action": "create", "name": "tickets"} | lists)
    create_prompt(client, **more)
    add_skill(client, provider, play)
    return server, provider, client


def traced(client, project, trace):
    """The spans of a trace, once the engine has them."""

    def spans():
        answer = client.get(f"/v1/projects/{project}/span_rows?limit=1000")
        return [row for row in answer.json.get("data") or [] if row["trace_id"] == trace]

    return wait_until(spans, "the call is traced")


def prompt_task(**more):
    return {"kind": "prompt", "prompt": "greet"} | more


def test_a_prompt_runs_on_every_example_through_the_gateway_and_is_counted_and_traced(binary, stack):
    server, provider, client = bench(binary, stack)
    key = key_of(server)
    hone = Hone(server, key)
    version = client.must("GET", "/v1/prompts/greet/latest").data["id"]
    client.must("POST", f"/v1/prompt_versions/{version}/tags", {"name": "production"}, status=204)
    create_prompt(client, text="a newer one that is not tagged: {{question}}")
    # The concluded JSON of the CLI has what was run, and what it cost.
    done = hone.json("experiment", "run", "tickets", "--prompt", "greet@production", "--model", "gpt-4o-mini", "--repeat", "2",
                     "--parameter", "temperature=0", "--parameter", "max_tokens=50", "--concurrency", "2", "--max-cost", "5")["task"]
    assert (done["state"], done["successful_runs"], done["failed_runs"]) == ("done", 6, 0), done
    assert done["task"]["model"] == "gpt-4o-mini" and done["task"]["prompt"].startswith("promptversion_"), done["task"]
    assert provider.get("/_count")["requests"] == 6, provider.get("/_count")
    assert done["spent_tokens"] == provider.tokens() == 6 * 1700 and done["spent_micro_usd"] > 0, (done, provider.tokens())
    last = provider.get("/_last")
    assert last["body"]["temperature"] == 0 and last["body"]["max_tokens"] == 50, last["body"]
    assert last["body"]["messages"][1]["content"].startswith("question "), last["body"]
    assert "reference" not in json.dumps(last["body"]) and KEY in json.dumps(last["headers"]), last
    runs = runs_of(client, done["experiment_id"])
    assert {run["output"]["content"] for run in runs} == {"Counted."}, runs
    assert len({run["trace_id"] for run in runs}) == 6, runs
    assert KEY not in json.dumps(done) + json.dumps(runs), "the key is visible"

    # Each run has its trace in the hidden project of the experiment, with the prompt that made it.
    found = traced(client, done["project_name"], runs[0]["trace_id"])
    assert len(found) == 1 and found[0]["kind"] == "llm", found
    payload = client.must("GET", f"/v1/projects/{done['project_name']}/traces/{runs[0]['trace_id']}/spans/{found[0]['span_id']}").data
    assert payload["attributes"]["prompt.id"] == done["task"]["prompt"], payload["attributes"]
    used = client.must("GET", "/v1/prompts/greet/used_by").data
    assert [row["project_name"] for row in used] == [done["project_name"]], used
    # The traces of the runs, and those of an application that names the version in its own way.
    versions = {row["number"]: row["id"] for row in client.must("GET", "/v1/prompts/greet/version_rows").data}
    node_id = client.must("GET", "/v1/prompts/greet/latest").data["id"]
    template = "llm.prompt_template.version"
    uses = ({"prompt.id": versions[1]}, {template: node_id}, {template: "greet:1"}, {template: "other:1"})
    spans = [(77 + n, 77 + n, 0, "reply", attributes) for n, attributes in enumerate(uses)]
    client.must("POST", "/v1/traces", otlp_json(spans))
    listed = wait_until(
        lambda: (found := hone.json("prompt", "traces", "greet", "--most", "100")) and len(found) == 9 and found, "its traces")
    assert sorted((row["project_name"], row["version_number"]) for row in listed) == sorted(
        [(done["project_name"], 1)] * 6 + [("shop", 1)] * 2 + [("shop", 2)]), listed
    assert {row["trace_id"] for row in listed} >= {run["trace_id"] for run in runs}, listed
    assert [row["trace_id"] for row in hone.json("prompt", "traces", "greet", "--most", "2")] == [row["trace_id"] for row in listed[:2]]
    assert hone.run("prompt", "traces", "greet").stdout.splitlines()[0].split()[:2] == ["STARTED", "VERSION"]
    create_prompt(client, "unused")
    assert client.must("GET", "/v1/prompts/unused/traces").data == []
    assert client.get("/v1/prompts/greet/traces?days=91").status == 400
    usage = client.must("GET", f"/v1/model_usage?group_by=run&run={done['experiment_id']}").data
    assert usage[0]["calls"] == 6, usage
    audit = client.must("GET", "/v1/audit?limit=100").data
    uses = [entry for entry in audit if entry["action"] == "model_calls"]
    assert [entry["target"] for entry in uses] == [used[0]["id"]] and KEY not in json.dumps(audit), uses


def test_other_protocols_get_the_same_prompt_in_their_own_words(binary, stack):
    server, provider, client = bench(binary, stack, examples=1)
    add_skill(client, provider, "exact", "anthropic", "claude")
    add_skill(client, provider, "exact", "gemini", "google")
    tools = {"type": "tools", "tools": [{"type": "function", "function": {"name": "look_up", "parameters": {"type": "object"}}}]}
    create_prompt(client, tools=tools)
    for provider_name, model in (("OPENAI", "gpt-4o"), ("ANTHROPIC", "claude-sonnet-4"), ("GOOGLE", "gemini-2.5-pro")):
        experiment = start(client, prompt_task(provider=provider_name, model=model), "tickets")
        task = ended(client, experiment)
        assert (task["state"], task["successful_runs"]) == ("done", 1), (task, runs_of(client, experiment))
        assert runs_of(client, experiment)[0]["output"]["content"] == "Counted.", runs_of(client, experiment)
        body = json.dumps(provider.get("/_last")["body"])
        assert "question 0" in body and "look_up" in body and "Answer briefly." in body, body


def test_a_missing_variable_fails_the_run_and_says_which(binary, stack):
    _, provider, client = bench(binary, stack, examples=2, text="{{question}} for {{customer.name}}")
    experiment = start(client, prompt_task(), "tickets")
    task = ended(client, experiment)
    assert (task["state"], task["failed_runs"]) == ("done", 2), task
    assert {run["error"] for run in runs_of(client, experiment)} == {"missing template variable customer.name"}
    assert provider.get("/_count")["requests"] == 0, "a broken prompt was sent"


def test_busy_providers_are_asked_again_and_refusals_are_stored(binary, stack):
    _, provider, client = bench(binary, stack, "recover_429", examples=1)
    experiment = start(client, prompt_task(), "tickets")
    assert ended(client, experiment)["successful_runs"] == 1, runs_of(client, experiment)
    add_skill(client, provider, "status_400", name="broken", MODELS="gpt-broken")
    refused = start(client, prompt_task(model="gpt-broken"), "tickets")
    assert ended(client, refused)["failed_runs"] == 1
    error = runs_of(client, refused)[0]["error"]
    assert error.startswith("the model endpoint responded with status 400: "), error
    # What failed is run again by resume, with the skill that works now.
    client.must("POST", f"/v1/experiments/{refused}/resume", {})
    assert ended(client, refused)["failed_runs"] == 1


def test_a_budget_of_money_stops_and_a_larger_one_continues(binary, stack):
    _, provider, client = bench(binary, stack, examples=6)
    experiment = start(client, prompt_task(), "tickets", concurrency=1, budget_micro_usd=4000)
    stopped = ended(client, experiment)
    assert stopped["state"] == "budget_stopped" and stopped["reason"] == "budget_micro_usd is used up", stopped
    assert 0 < stopped["successful_runs"] < 6 and stopped["failed_runs"] == 0, stopped
    assert "Notice from Hone" not in json.dumps(provider.get("/_last")["body"]), "a notice changed what is measured"
    client.must("POST", f"/v1/experiments/{experiment}/resume?budget_micro_usd=1000000", {})
    done = ended(client, experiment)
    assert (done["state"], done["successful_runs"]) == ("done", 6), done
    assert provider.get("/_count")["requests"] == 6, "a run was made twice"
    # The budget of the space holds too.
    client.must("PUT", "/v1/spaces/default/budget", {"tokens_per_day": 1, "cost_micro_usd_per_day": None, "soft_percent": 80})
    refused = ended(client, start(client, prompt_task(), "tickets"))
    assert refused["state"] == "budget_stopped" and "space" in refused["reason"], refused


def test_a_killed_server_continues_without_calling_twice_for_what_is_stored(binary, stack):
    server, provider, client = bench(binary, stack, "slow", examples=4)
    experiment = start(client, prompt_task(), "tickets", concurrency=1)
    wait_until(lambda: len(runs_of(client, experiment)) >= 1, "one run is stored")
    server.process.send_signal(signal.SIGKILL)
    server.process.wait()
    server.start()
    client = server.admin()
    task = ended(client, experiment)
    assert (task["state"], task["successful_runs"], task["failed_runs"]) == ("done", 4, 0), task
    assert len(runs_of(client, experiment)) == 4
    assert provider.get("/_count")["requests"] <= 5, "more than the call under way was repeated"


def test_stop_ends_and_resume_completes(binary, stack):
    _, provider, client = bench(binary, stack, "slow", examples=5)
    experiment = start(client, prompt_task(), "tickets", concurrency=1)
    wait_until(lambda: len(runs_of(client, experiment)) >= 1, "one run is stored")
    client.must("POST", f"/v1/experiments/{experiment}/stop", {})
    assert ended(client, experiment)["state"] == "stopped"
    wait_until(lambda: client.call("POST", f"/v1/experiments/{experiment}/resume", {}).status == 200, "it resumes")
    assert ended(client, experiment)["successful_runs"] == 5


def test_bad_tasks_are_refused_before_anything_is_called(binary, stack):
    server, provider, client = bench(binary, stack, examples=1)
    client.must("POST", "/v1/spaces", {"name": "elsewhere"})
    other = client.must("POST", "/v1/prompts?space=elsewhere", {"prompt": {"name": "foreign"}, "version": content()}).data["id"]
    experiment = client.must("POST", "/v1/datasets/tickets/experiments", {}).data["id"]

    def refused(status, words, **task):
        answer = client.post(f"/v1/experiments/{experiment}/start", {"task": {"kind": "prompt"} | task})
        assert answer.status == status and words in answer.text, (task, answer.status, answer.text)

    refused(400, "give prompt")
    refused(400, "give prompt", prompt="greet", prompt_version=content())
    refused(404, "prompt nothing", prompt="nothing")
    refused(404, "tag gone of prompt greet", prompt="greet@gone")
    refused(404, "version 9 of prompt greet", prompt="greet:9")
    refused(400, "no version number", prompt="greet:x")
    refused(404, "not found", prompt="foreign")
    refused(404, "not found", prompt=other)
    refused(404, "not found", prompt="promptversion_" + "0" * 26)
    refused(404, "not found", prompt="promptversion_'; DROP TABLE prompts --")
    refused(400, "model provider AWS cannot be called", prompt="greet", provider="AWS")
    refused(400, "model must be a name", prompt="greet", model="a b")
    refused(404, "skill", prompt="greet", skill="nothing")
    refused(400, "parameters must be an object", prompt="greet", parameters=[1])
    refused(400, "version.template must be an object", prompt_version=content() | {"template": 1})
    refused(400, "is not closed", prompt_version=content(text="{{question"))
    refused(400, "no model skill of this space offers the model claude-x with PROTOCOL=anthropic", prompt="greet",
            provider="ANTHROPIC", model="claude-x")
    refused(400, "command, files and repo belong", prompt="greet", command="cat")
    answer = client.post(f"/v1/experiments/{experiment}/start", {"task": prompt_task(), "budget_micro_usd": 0})
    assert answer.status == 400 and "budget_micro_usd must be between" in answer.text, answer.text
    answer = client.post(f"/v1/experiments/{experiment}/start", {"task": {"kind": "command", "command": "cat"}, "budget_micro_usd": 5})
    assert answer.status == 400 and "kind prompt" in answer.text, answer.text
    # A model without a price cannot have a limit of cost.
    unpriced = start(client, prompt_task(model="own-model"), "tickets", budget_micro_usd=1000)
    assert ended(client, unpriced)["failed_runs"] == 1
    assert "it has no price" in runs_of(client, unpriced)[0]["error"]
    # Who may not start runs may not spend on models.
    narrow = server.client(key_of(server, scopes=["dataset_read", "experiment_write"]))
    answer = narrow.post(f"/v1/experiments/{experiment}/start", {"task": prompt_task()})
    assert answer.status == 403 and "run_start" in answer.text, answer.text
    assert provider.get("/_count")["requests"] == 0, "something was called"


# --- playground ------------------------------------------------------------------------------------------------------


def events_of(client, body, query=""):
    answer = client.post("/v1/playground/run" + query, body)
    assert answer.status == 200, (answer.status, answer.text)
    events = []
    for block in answer.text.strip().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line and not line.startswith(":"))
        if "data" in fields:
            events.append((fields["event"], json.loads(fields["data"])))
    return events


def test_the_playground_streams_a_call_with_its_numbers_and_trace(binary, stack):
    server, provider, client = bench(binary, stack, "trickle")
    add_skill(client, provider, "trickle", "anthropic", "claude")
    add_skill(client, provider, "trickle", "gemini", "google")
    wanted = {"prompt": "greet", "variables": {"question": "why?"}}
    for more in ({}, {"provider": "ANTHROPIC", "model": "claude-sonnet-4"}, {"provider": "GOOGLE", "model": "gemini-2.5-pro"}):
        events = events_of(client, wanted | more)
        *texts, (kind, answer) = events
        assert kind == "done" and answer["text"] == "Drop after drop after drop.", (more, events)
        assert len(texts) > 1 and answer["text"].startswith("".join(event["text"] for _, event in texts)), events
        assert answer["input_tokens"] + answer["output_tokens"] > 0 and answer["cost_micro_usd"] is not None, answer
        assert answer["duration_ms"] >= answer["first_text_ms"] and answer["trace_id"], answer

    def counted():
        rows = client.must("GET", "/v1/model_usage?group_by=run").data
        return rows if [(row["group"], row["calls"]) for row in rows] == [("playground", 3)] else None

    used = wait_until(counted, "the calls are counted")
    assert sum(row["total_tokens"] for row in used) == provider.tokens(), used
    names = [project["name"] for project in client.must("GET", "/v1/projects").data]
    assert "hone-playground" not in names, names
    assert len(traced(client, answer["project_id"], answer["trace_id"])) == 1
    client.must("POST", "/v1/projects", {"name": "shop"})
    chosen = events_of(client, wanted | {"project": "shop"})[-1][1]
    assert chosen["project_id"] == client.must("GET", "/v1/projects/shop").data["id"], chosen
    # From the command line, with the content of the answer on stdout.
    hone = Hone(server, key_of(server))
    ran = hone.run("prompt", "run", "greet", "--var", "question=why?")
    assert "Drop after drop after drop." in ran.stdout and "tokens in" in ran.stdout, ran.stdout
    assert hone.json("prompt", "run", "greet", "--var", "question=why?")["text"] == "Drop after drop after drop."
    assert "missing template variable question" in hone.run("prompt", "run", "greet", status=8).stderr


def test_the_playground_refuses_stops_and_is_bounded(binary, stack):
    server, provider, client = bench(binary, stack, "stall")
    wanted = {"prompt": "greet", "variables": {"question": "why?"}}
    for body, status, words in (
        ({"prompt": "greet"}, 400, "missing template variable question"),
        ({}, 400, "give prompt"),
        (wanted | {"timeout_ms": 1}, 400, "timeout_ms"),
        (wanted | {"variables": []}, 400, "variables must be an object"),
        (wanted | {"project": "nothing"}, 404, "project"),
        (wanted | {"prompt": "nothing"}, 404, "prompt nothing"),
        (wanted | {"unknown": 1}, 400, "unknown"),
    ):
        answer = client.post("/v1/playground/run", body)
        assert answer.status == status and words in answer.text, (body, answer.status, answer.text)
    viewer = server.client(key_of(server, scopes=["dataset_read", "project_read"]))
    assert viewer.post("/v1/playground/run", wanted).status == 403
    # A call that is too slow ends with its reason.
    assert "longer than 1000 ms" in events_of(client, wanted | {"timeout_ms": 1000})[-1][1]["message"]
    # Eight at once of one person; the ninth waits for none of them. Closing a connection ends its call.
    open_calls = []
    for _ in range(8):
        connection = client.connection()
        connection.request("POST", "/v1/playground/run", json.dumps(wanted), {
            "Content-Type": "application/json", "Cookie": f"hone_session={client.cookie}", "X-CSRF-Token": client.csrf})
        open_calls.append((connection, connection.getresponse()))
    wait_until(lambda: provider.get("/_count")["requests"] >= 9, "all calls have reached the model")
    answer = client.post("/v1/playground/run", wanted)
    assert answer.status == 429 and "too many calls" in answer.text, (answer.status, answer.text)
    for connection, _ in open_calls:
        connection.close()
    slow = wanted | {"timeout_ms": 1000}
    wait_until(lambda: client.post("/v1/playground/run", slow).status == 200, "places are free again")


def test_a_protected_tag_is_moved_only_by_those_who_may(binary, stack):
    server, _, client = bench(binary, stack)
    first = client.must("GET", "/v1/prompts/greet/latest").data["id"]
    second = create_prompt(client, text="another {{question}}")
    member = server.client(key_of(server, scopes=["dataset_read", "prompt_write"]))
    hone = Hone(server, key_of(server))
    hone.run("prompt", "protect", "production")
    assert [row["name"] for row in hone.json("prompt", "protected")] == ["production"]
    refused = member.post(f"/v1/prompt_versions/{first}/tags", {"name": "production"})
    assert refused.status == 403 and "the tag production is protected (by" in refused.text and "space_update" in refused.text, refused.text
    assert refused.json["detail"] == refused.json["error"]["message"], refused.text
    member.must("POST", f"/v1/prompt_versions/{first}/tags", {"name": "staging"}, status=204)
    hone.run("prompt", "tag", "greet", "1", "production")
    for method, path in (("DELETE", f"/v1/prompt_versions/{first}/tags/production"), ("DELETE", "/v1/prompts/greet")):
        answer = member.call(method, path)
        assert answer.status == 403 and "protected" in answer.text, answer.text
    assert member.post(f"/v1/prompt_versions/{second}/tags", {"name": "production"}).status == 403
    assert client.must("GET", "/v1/prompts/greet/tags/production").data["id"] == first
    for answer in (member.post("/v1/protected_prompt_tags", {"name": "x"}), member.call("DELETE", "/v1/protected_prompt_tags/production")):
        assert answer.status == 403, answer.text
    for name, status in (("Not A Tag", 400), ("", 400), ("production", 409)):
        assert client.post("/v1/protected_prompt_tags", {"name": name}).status == status, name
    assert client.call("DELETE", "/v1/protected_prompt_tags/nothing").status == 404
    actions = [entry["action"] for entry in client.must("GET", "/v1/audit?limit=50").data]
    assert "prompt_tag_protect" in actions and "prompt_tag" in actions, actions
    hone.run("prompt", "unprotect", "production")
    member.must("POST", f"/v1/prompt_versions/{second}/tags", {"name": "production"}, status=204)
    # Who moved the tag, from where to where; a viewer reads it too.
    moves = hone.json("prompt", "tag-history", "greet", "--tag", "production")
    assert [(move["from_version"], move["to_version"]) for move in moves] == [(1, 2), (None, 1)], moves
    assert all(move["moved_by"] for move in moves), moves
    reader = server.client(key_of(server, scopes=["dataset_read"]))
    assert [move["tag"] for move in reader.must("GET", "/v1/prompts/greet/tag_history").data] == ["production", "production", "staging"]
    assert "staging" in hone.run("prompt", "tag-history", "greet").stdout
    assert client.get("/v1/prompts/greet/tag_history?cursor=bm8").status == 400
    assert client.get("/v1/prompts/unknown/tag_history").status == 404


# --- tools of workers --------------------------------------------------------------------------------------------------

TOOLS = """
import json, sys, urllib.request
for line in sys.stdin:
    name, arguments = json.loads(line.replace("<key>", "sk-" + "ant-api03-" + "a" * 80).replace("<big>", "x" * 300_000))
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    request = urllib.request.Request("http://127.0.0.1:3129/mcp", json.dumps(body).encode(), headers)
    result = json.load(urllib.request.urlopen(request, timeout=120))
    result = result.get("result") or {"isError": True, "content": [{"text": json.dumps(result.get("error"))}]}
    print(json.dumps([result["isError"], result["content"][0]["text"]]), flush=True)
"""


def use_tools(shop, *calls):
    run = shop.until(shop.start("/usr/bin/python3", "-c", TOOLS, prompt="\n".join(json.dumps(call) for call in calls) + "\n")["id"])
    assert run["state"] == "succeeded", (run, shop.texts(run["id"]))
    lines = [line for text in shop.texts(run["id"], "message") for line in text.splitlines()]
    answers = [json.loads(line) for line in lines]
    assert len(answers) == len(calls), lines
    return run, [(failed, text if failed else json.loads(text)) for failed, text in answers]


def test_workers_read_datasets_propose_examples_and_run_evaluators_within_their_space_and_project(binary, stack):
    shop = Shop(binary, stack)
    client = shop.client
    inputs = [{"question": f"question {n}"} for n in range(12)]
    client.must("POST", "/v1/datasets/upload", {"action": "create", "name": "tickets", "inputs": inputs,
                                                "outputs": [{"answer": str(n)} for n in range(12)]})
    client.must("POST", "/v1/spaces", {"name": "elsewhere"})
    foreign = client.must("POST", "/v1/datasets/upload?space=elsewhere", {
        "action": "create", "name": "foreign", "inputs": [{"secret": "of another space"}]}).data["dataset_id"]
    code = 'def evaluate(document):\n    return document["output"] == document["reference"]\n'
    hone = Hone(shop.server, key_of(shop.server))
    file = shop.server.data_dir.parent / "exact.py"
    file.write_text(code)
    stack.callback(file.unlink)
    made = hone.json("evaluator", "create", "exact", "--code", str(file), "--labels", "true=1,false=0")
    document = {"output": 1, "reference": 1}
    new = {"input": {"question": "a new one"}, "output": {"answer": "x"}, "reason": "it failed twice", "trace_id": "ab" * 16}
    run, answers = use_tools(
        shop,
        ["list_datasets", {}],
        ["read_examples", {"dataset": "tickets", "limit": 5}],
        ["read_examples", {"dataset": "tickets", "limit": 50, "cursor": "4"}],
        ["propose_examples", {"dataset": "tickets", "examples": [new, {"input": {"key": "<key>"}}]}],
        ["propose_examples", {"dataset": "tickets", "examples": [new]}],
        ["run_evaluator", {"evaluator": "exact", "documents": [document, {"output": 1}]}],
    )
    listed, first, rest, proposed, again, judged = (answer for failed, answer in answers if not failed)
    assert [row["name"] for row in listed["data"]] == ["tickets"], listed
    assert len(first["data"]) == 5 and first["next_cursor"] == "4" and first["data"][0]["input"] == inputs[0], first
    assert len(rest["data"]) == 7 and "next_cursor" not in rest, rest
    assert (proposed["data"]["added"], proposed["data"]["redacted"]) == (2, 1), proposed
    assert (again["data"]["added"], again["data"]["known"]) == (0, 1), again
    assert judged["data"][0]["verdict"]["score"] == 1 and "KeyError" in judged["data"][1]["error"], judged

    # Nothing is in the dataset before a person says yes; what is accepted keeps its trace.
    assert client.must("GET", "/v1/datasets/tickets").data["example_count"] == 12
    waiting = hone.json("dataset", "proposals", "tickets")
    assert [row["run_id"] for row in waiting] == [run["id"]] * 2 and waiting[0]["reason"] == "it failed twice", waiting
    assert "sk-ant" not in json.dumps(waiting), waiting
    assert hone.json("dataset", "accept", "tickets", "--id", waiting[0]["id"])["examples"] == 1
    hone.run("dataset", "reject", "tickets", "--all")
    assert hone.json("dataset", "proposals", "tickets") == []
    assert client.must("GET", "/v1/datasets/tickets").data["example_count"] == 13
    for action, body, status in (("accept", [waiting[0]["id"]], 409), ("reject", ["proposal_" + "0" * 26], 404), ("accept", [], 400),
                                 ("accept", ["../x"], 400)):
        answer = client.post(f"/v1/datasets/tickets/proposals/{action}", {"ids": body})
        assert answer.status == status, (action, body, answer.status, answer.text)

    # Attacks with the key of a run of this space and project.
    hidden = client.must("POST", "/v1/spaces", {"name": "third"}).data["id"]
    failing = [
        ["list_datasets", {"space": "elsewhere"}],
        ["read_examples", {"dataset": foreign}],
        ["read_examples", {"dataset": "foreign", "space": "elsewhere"}],
        ["read_examples", {"dataset": "foreign"}],
        ["read_examples", {"dataset": "' OR 1=1 --"}],
        ["read_examples", {"dataset": "\u0000"}],
        ["read_examples", {"dataset": "tickets", "cursor": "-1"}],
        ["read_examples", {"dataset": "tickets", "cursor": "x"}],
        ["propose_examples", {"dataset": foreign, "examples": [new]}],
        ["propose_examples", {"dataset": "tickets", "examples": []}],
        ["propose_examples", {"dataset": "tickets", "examples": [new] * 51}],
        ["propose_examples", {"dataset": "tickets", "examples": [{"input": 7}]}],
        ["propose_examples", {"dataset": "tickets", "examples": [{"input": {}, "trace_id": "../../etc"}]}],
        ["propose_examples", {"dataset": "tickets", "examples": [{"input": {"big": "<big>"}}]}],
        ["run_evaluator", {"evaluator": "nothing", "documents": [document]}],
        ["run_evaluator", {"evaluator": made["id"], "space": hidden, "documents": [document]}],
        ["run_evaluator", {"evaluator": "exact", "documents": []}],
        ["run_evaluator", {"evaluator": "exact", "documents": [1]}],
        ["run_evaluator", {"evaluator": "exact", "version": 99, "documents": [document]}],
    ]
    _, answers = use_tools(shop, *failing)
    for call, (failed, text) in zip(failing, answers):
        assert failed and "of another space" not in text, (call, text)
    # Examples that come from another project are left out for this run, not for a person.
    assert client.post("/v1/traces", otlp_json([(1, 1, 0, "ask", {"input.value": "of other"})], service="other")).status == 200
    rows(client, "/v1/projects/other/span_rows", 1)
    client.must("POST", "/v1/datasets/from_spans", {"project": "other", "name": "tickets"})
    assert client.must("GET", "/v1/datasets/tickets").data["example_count"] == 14
    _, answers = use_tools(shop, ["read_examples", {"dataset": "tickets", "limit": 50}])
    assert len(answers[0][1]["data"]) == 13 and "of other" not in json.dumps(answers), answers
