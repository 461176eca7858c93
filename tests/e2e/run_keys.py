"""What a worker may do with the key of its run, on every route that openapi.json names: read its own project."""

import json
import re

from runs import Shop

# Runs inside the sandbox: asks for each line of its prompt through the gateway, which adds the run's key.
ASK = """
import json, sys, urllib.error, urllib.request
for line in sys.stdin:
    method, path = json.loads(line)
    body = b"{}" if method in ("POST", "PUT", "PATCH") else None
    request = urllib.request.Request("http://127.0.0.1:3129/api" + path, body, {"Content-Type": "application/json"}, method=method)
    try:
        status = urllib.request.urlopen(request, timeout=30).status
    except urllib.error.HTTPError as error:
        status = error.code
    print(json.dumps([method, path, status]), flush=True)
"""


def wrong(route, need, project, status):
    """Why the status is not what the documents promise, or nothing."""
    if need == "everyone":
        return None
    if route == "/v1/span_backlog":
        return "may not read what belongs to the installation" if status != 403 else None
    if route == "/v1/notices/read":
        return "may not mark the notices of its person" if status != 403 else None
    if need == "everyone logged in":
        return "must be known" if status == 401 else None
    if need != "project_read":
        return "may only read" if status != 403 else None
    if status in (401, 403) or (status >= 500 and status != 503):
        return "may read its project"
    if "{project}" in route and project == "other" and status != 404:
        return "may not know of other projects"
    if route.endswith("{project}") and project == "shop" and status != 200:
        return "sees its project"
    return None


def test_the_key_of_a_run_reads_its_own_project_and_nothing_else_on_every_route(binary, stack):
    shop = Shop(binary, stack)
    shop.client.must("POST", "/v1/projects", {"name": "other"})
    needs, asked = {}, []
    for route, methods in shop.client.get("/openapi.json").json["paths"].items():
        if not route.startswith("/v1/"):
            continue
        for method, about in methods.items():
            need = re.search(r"For: (.+?)[.;,]", about["description"]).group(1)
            for project in ("shop", "other") if "{project}" in route else ("shop",):
                path = re.sub(r"\{\w+\}", "unknown", route.replace("{space}", "default").replace("{project}", project))
                needs[method.upper(), path] = (route, need, project)
                asked.append(json.dumps([method.upper(), path]))
    run = shop.until(shop.start("/usr/bin/python3", "-c", ASK, prompt="\n".join(asked) + "\n")["id"])
    assert run["state"] == "succeeded", (run, shop.texts(run["id"]))
    answers = [json.loads(line) for text in all_messages(shop, run["id"]) for line in text.splitlines()]
    assert len(answers) == len(asked) and len(asked) > 150, (len(answers), len(asked))
    problems = []
    for method, path, status in answers:
        why = wrong(*needs[method, path], status)
        if why:
            problems.append(f"{method} {path} ({needs[method, path][1]}) -> {status}: {why}")
    assert not problems, "\n".join(problems)
    assert {status for _, _, status in answers} >= {200, 403, 404}


def all_messages(shop, id):
    """The whole transcript, page by page."""
    after = 0
    while events := shop.client.must("GET", f"/v1/runs/{id}/events?limit=1000&after={after}").data:
        yield from (event["text"] for event in events if event["kind"] == "message")
        after = events[-1]["seq"]
