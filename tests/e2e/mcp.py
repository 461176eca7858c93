"""The MCP server as an outside agent meets it: with an API key, over streamable HTTP, in every version it speaks."""

import json
import re
import time

from runs import Shop
from server import Client, wait_until

VERSIONS = ("2025-03-26", "2025-06-18", "2025-11-25")


class Agent:
    def __init__(self, shop, **key):
        self.client = Client(shop.server.url, key=shop.client.must("POST", "/v1/keys", {"name": "agent"} | key).data["key"])

    def post(self, body, **headers):
        accept = {"Accept": "application/json, text/event-stream"}
        return self.client.call("POST", "/mcp", body, accept | {name.replace("_", "-"): value for name, value in headers.items()})

    def ask(self, method, **params):
        answer = self.post({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).json
        assert answer["jsonrpc"] == "2.0" and answer["id"] == 1, answer
        return answer

    def tool(self, name, **arguments):
        result = self.ask("tools/call", name=name, arguments=arguments)["result"]
        text = result["content"][0]["text"]
        return result["isError"], text if result["isError"] else json.loads(text)


def test_an_outside_agent_asks_in_every_version(binary, stack):
    shop = Shop(binary, stack)
    agent = Agent(shop)
    for version in VERSIONS:
        met = agent.ask("initialize", protocolVersion=version, capabilities={}, clientInfo={"name": "t", "version": "1"})["result"]
        assert met["protocolVersion"] == version and met["serverInfo"]["name"] == "hone", met
        assert agent.post({"jsonrpc": "2.0", "method": "notifications/initialized"}, MCP_Protocol_Version=version).status == 202
    assert agent.ask("initialize", protocolVersion="1999-01-01")["result"]["protocolVersion"] == VERSIONS[-1]
    refused = agent.post({"jsonrpc": "2.0", "id": 1, "method": "ping"}, MCP_Protocol_Version="1999-01-01")
    assert refused.status == 400 and "2025-11-25" in refused.text, refused.text
    # A client of the future asks first whether the server is one too, and goes by the answer.
    probe = agent.post({"jsonrpc": "2.0", "id": "server-discover-probe-1", "method": "server/discover"}, MCP_Protocol_Version="2026-07-28")
    assert probe.status == 200 and probe.json["error"]["code"] == -32601, probe.text
    assert agent.ask("ping")["result"] == {}
    assert agent.post({"jsonrpc": "2.0", "id": 1}).json["error"]["code"] == -32600
    assert agent.post({"jsonrpc": "2.0", "id": 1, "result": {}}).status == 202
    assert agent.post({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}}).status == 202
    assert agent.ask("resources/list")["error"]["code"] == -32601
    assert agent.post("{").json["error"]["code"] == -32700
    assert agent.post("7").json["error"]["code"] == -32600
    assert agent.client.get("/mcp").status == 405
    # Several at once, notifications among them.
    both = agent.post([{"jsonrpc": "2.0", "id": "a", "method": "ping"}, {"jsonrpc": "2.0", "method": "x"},
                       {"jsonrpc": "2.0", "id": "b", "method": "nothing"}]).json
    assert [one["id"] for one in both] == ["a", "b"] and both[1]["error"]["code"] == -32601, both


def test_an_outside_agent_uses_tools_within_its_rights(binary, stack):
    shop = Shop(binary, stack)
    agent = Agent(shop)
    tools = {tool["name"]: tool for tool in agent.ask("tools/list")["result"]["tools"]}
    assert {"list_projects", "describe_project", "search_spans", "get_trace", "get_span", "query_sql", "get_series",
            "list_evals", "list_issues", "report_issue"} <= set(tools), sorted(tools)
    assert all(tool["inputSchema"]["type"] == "object" and tool["description"] for tool in tools.values())
    assert agent.tool("report_issue", project="shop", title="Order 7 is lost", explanation="seen twice")[0] is False
    failed, issues = agent.tool("list_issues", project="shop")
    assert not failed and "Order 7 is lost" in json.dumps(issues), issues
    assert agent.tool("no_such_tool")[0] and agent.tool("search_spans", project="nowhere")[0]
    assert agent.tool("search_spans", project="shop", strange=1) == (True, "invalid: unknown field strange"), "arguments are strict"
    # One who may only read reports nothing.
    reader = Agent(shop, kind="service", role="viewer")
    assert reader.tool("list_issues", project="shop")[0] is False
    assert reader.tool("report_issue", project="shop", title="x", explanation="y")[0] is True
    # A client that wants progress gets a stream.
    streamed = agent.post({"jsonrpc": "2.0", "id": 5, "method": "tools/call",
                           "params": {"name": "list_projects", "arguments": {}, "_meta": {"progressToken": "p"}}})
    assert streamed.headers["content-type"].startswith("text/event-stream"), streamed.headers
    last = [json.loads(line[6:]) for line in streamed.text.splitlines() if line.startswith("data: ")][-1]
    assert last["id"] == 5 and "shop" in last["result"]["content"][0]["text"], last


def spans_of(*texts, trace=1):
    """One trace with a span for each output."""
    now = time.time_ns()
    return [{"traceId": f"{trace:032x}", "spanId": f"{trace * 10000 + i:016x}", "name": f"step {i}", "startTimeUnixNano": str(now + i),
             "endTimeUnixNano": str(now + i + 1000),
             "attributes": [{"key": "output.value", "value": {"stringValue": text}}]} for i, text in enumerate(texts, 1)]


def send_spans(shop, spans):
    resource = {"attributes": [{"key": "openinference.project.name", "value": {"stringValue": "shop"}}]}
    shop.client.must("POST", "/v1/traces", {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": spans}]}]})
    wait_until(lambda: len(shop.client.must("GET", "/v1/projects/shop/span_rows?limit=1000").data) >= len(spans), "the spans are visible")


def test_lists_have_cursors_and_long_texts_come_in_parts(binary, stack):
    shop = Shop(binary, stack)
    agent = Agent(shop)
    long = "".join(f"line {number} äöü \n" for number in range(40_000))  # about 700 KB
    send_spans(shop, spans_of(*[f"short {i}" for i in range(600)], long))

    def every(tool, key="data", **arguments):
        rows, cursor, pages = [], None, 0
        while True:
            failed, reply = agent.tool(tool, project="shop", **arguments, **({"cursor": cursor} if cursor else {}))
            assert not failed, reply
            rows, pages = rows + reply[key], pages + 1
            cursor = reply.get("next_cursor")
            if cursor is None:
                return rows, pages

    # Nothing is skipped between pages, however they are cut.
    spans, pages = every("search_spans", limit=200)
    assert len({span["span_id"] for span in spans}) == len(spans) == 601 and pages >= 4, (len(spans), pages)
    tree, pages = every("get_trace", "spans", trace_id=f"{1:032x}", max_bytes=20_000)
    assert len({span["span_id"] for span in tree}) == len(tree) == 601 and pages > 3, (len(tree), pages)
    rows, pages = every("query_sql", sql="SELECT span_id, output FROM spans ORDER BY span_id", limit=100, max_bytes=10_000)
    assert [row["span_id"] for row in rows] == sorted(span["span_id"] for span in spans) and pages >= 7, (len(rows), pages)
    assert agent.tool("query_sql", project="shop", sql="SELECT 1", cursor="x")[0] is True
    assert agent.tool("query_sql", project="shop", sql="SELECT 1", cursor="99999999")[0] is True
    for number in range(3):
        agent.tool("report_issue", project="shop", title=f"Problem {number} of orders", explanation="seen", subject=f"s{number}")
    issues, pages = every("list_issues", limit=1)
    assert len(issues) == 3 and pages == 3, issues
    for name in ("bank", "clinic"):
        shop.client.must("POST", "/v1/projects", {"name": name})
    _, first = agent.tool("list_projects", limit=2)
    _, rest = agent.tool("list_projects", limit=2, cursor=first["next_cursor"])
    names = [project["name"] for project in first["data"] + rest["data"]]
    assert {"shop", "bank", "clinic"} <= set(names) and len(names) == len(set(names)), names

    # A span beyond every budget is read in parts, whole characters each.
    place = {"project": "shop", "trace_id": f"{1:032x}", "span_id": f"{10000 + 601:016x}"}
    _, cut = agent.tool("get_span", **place, max_bytes=5000)
    assert "bytes left out" in json.dumps(cut) and "path" in cut["advice"], cut
    read, offset = "", 0
    while offset is not None:
        failed, part = agent.tool("get_span", **place, path="/output", offset=offset, length=100_001)
        assert not failed and part["total_bytes"] == len(long.encode()), part
        read, offset = read + part["text"], part.get("next_offset")
    assert read == long, "the parts are the whole"
    assert agent.tool("get_span", **place, path="/nothing")[0] is True
    assert agent.tool("get_span", **place, path="output")[0] is True
    assert agent.tool("get_span", **place, offset=3)[0] is True
    assert agent.tool("get_span", **place, path="/output", offset=10**9)[1]["text"] == ""

    # Labels of an outside agent are evals at once; one who may only read writes none.
    label = {"target_id": f"{10001:016x}", "name": "correct", "label": "no", "explanation": "wrong order"}
    assert agent.tool("add_evals", project="shop", evals=[label]) == (False, {"written": 1})
    evals = wait_until(lambda: agent.tool("list_evals", project="shop")[1]["data"], "the eval is visible")
    assert evals[0]["label"] == "no" and evals[0]["by"] == "agent", evals
    assert agent.tool("add_evals", project="shop", evals=[{"target_id": f"{10001:016x}", "name": "empty"}])[0] is True
    reader = Agent(shop, kind="service", role="viewer")
    assert reader.tool("add_evals", project="shop", evals=[label])[0] is True


def test_a_worker_writes_whole_lists_to_a_file_and_knows_its_skills_and_hosts(binary, stack):
    shop = Shop(binary, stack)
    send_spans(shop, spans_of(*[f"text {i} " + "x" * 2000 for i in range(500)]))
    skill = shop.client.must("POST", "/v1/skills", {"name": "forge", "type": "github", "secrets": {"GH_TOKEN": "canary-token-1"}}).data
    script = """hone query_sql --sql 'SELECT span_id, output FROM spans ORDER BY span_id' --output rows.jsonl 2>&1
wc -l < rows.jsonl; hone describe_project --output x.jsonl 2>/dev/null; echo "code $?"
hone add_evals --evals '[]' 2>&1; cat "$HONE_CONTEXT_FILE"; cat /hone/skills/hone-traces/SKILL.md /hone/skills/hone-github/SKILL.md"""
    done = shop.until(shop.start("/bin/sh", "-c", script, skills=[skill["id"]], repos=[])["id"])
    said = "\n".join(shop.texts(done["id"], "message"))
    assert "500 rows" in said and "\n500\n" in said, said[:2000]
    assert "code 2" in said and "no tool named add_evals" in said, said[:2000]
    assert "- /hone/skills/hone-github/SKILL.md" in said and "- https://codeload.github.com (GET, HEAD)" in said, said[:4000]
    assert "canary" not in said
    # Every query of the instructions runs.
    queries = re.findall(r"^    SELECT .*\n(?:^    (?!SELECT).*\n)*", said + "\n", re.M)
    assert len(queries) >= 2, queries
    for query in queries:
        answer = shop.client.post("/v1/sql", {"project": "shop", "sql": query})
        assert answer.status == 200, (query, answer.text)
