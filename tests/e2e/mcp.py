"""The MCP server as an outside agent meets it: with an API key, over streamable HTTP, in every version it speaks."""

import json

from runs import Shop
from server import Client

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
