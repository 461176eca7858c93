"""Log records that are searched and metrics that become series: over HTTP, from the command line, in SQL; after a crash,
with a setting that drops them, and in a backup."""

import json

from drop_in import log_record, logs_json
from server import Server, wait_until
from telemetry import key_of, now_ns
from trace_commands import Hone

MINUTE = 60_000_000_000


def plain_record(body, severity="INFO", age_ns=0, attributes=None):
    record = log_record(0, 0, "", attributes or {})
    return record | {
        "timeUnixNano": str(now_ns() - age_ns),
        "severityText": severity,
        "body": {"stringValue": body},
    }


def metric(name, unit, kind, temporality, points):
    return {"name": name, "unit": unit, kind: {"aggregationTemporality": temporality, "dataPoints": points}}


def metrics_json(metrics, service="shop"):
    attributes = [{"key": "service.name", "value": {"stringValue": service}}]
    return {"resourceMetrics": [{"resource": {"attributes": attributes}, "scopeMetrics": [{"metrics": metrics}]}]}


def point(value, age_ns, start_ns=0, **attributes):
    pairs = [{"key": key, "value": {"stringValue": text}} for key, text in attributes.items()]
    return {"timeUnixNano": str(now_ns() - age_ns), "startTimeUnixNano": str(start_ns), "asDouble": value, "attributes": pairs}


def test_log_records_are_searched_over_http_on_the_command_line_and_in_sql(binary, stack):
    server = stack.enter_context(Server(binary))
    key = key_of(server)
    client, hone = server.client(key), Hone(server, key)
    secret = "hone_" + "k" * 43
    records = [
        plain_record("order 1 received", age_ns=3 * MINUTE),
        plain_record("stock is low", "WARN", 2 * MINUTE, {"warehouse": "north"}),
        plain_record(f"cannot send with Authorization: Bearer {secret}", "ERROR", MINUTE),
    ]
    assert client.post("/v1/logs", logs_json(records)).json == {}
    found = wait_until(lambda: (rows := client.must("GET", "/v1/projects/shop/logs").data) and len(rows) == 3 and rows, "the log records")
    assert [row["severity"] for row in found] == ["error", "warn", "info"], found
    assert secret not in json.dumps(found), found
    assert found[1]["attributes"]["warehouse"] == "north", found
    # Acknowledged records survive a crash, and one that is sent again is there once.
    server.kill()
    server.start()
    client, hone = server.client(key), Hone(server, key)
    assert client.post("/v1/logs", logs_json(records)).status == 200
    wait_until(lambda: len(client.must("GET", "/v1/projects/shop/logs").data) == 3, "three records")
    assert [row["body"] for row in hone.json("logs", "--text", "NORTH")] == ["stock is low"]
    assert len(hone.json("logs", "--severity", "warn")) == 2
    assert "order 1 received" in hone.run("logs").stdout
    assert hone.json("logs", "--after", "1s") == []
    rows = json.loads(hone.run("sql", "SELECT severity, count() AS n FROM logs GROUP BY severity ORDER BY severity", "--json").stdout)
    assert [row["severity"] for row in rows] == ["error", "info", "warn"], rows
    assert client.must("GET", "/v1/projects/shop/ledger").data["log_records"] == 6
    # Another project sees none of them.
    assert client.post("/v1/logs", logs_json([plain_record("elsewhere")]), {"x-project-name": "other"}).status == 200
    wait_until(lambda: len(client.must("GET", "/v1/projects/other/logs").data) == 1, "the record of the other project")
    assert len(client.must("GET", "/v1/projects/shop/logs").data) == 3
    assert client.get("/v1/projects/shop/logs?cursor=x").status == 400


def test_a_setting_drops_log_records_and_the_ledger_has_the_reason(binary, stack):
    server = stack.enter_context(Server(binary))
    client = server.client(key_of(server))
    assert client.post("/v1/logs", logs_json([plain_record("kept")])).status == 200
    admin = server.admin()
    for wrong in (-1, 366):
        assert admin.call("PUT", "/v1/projects/shop/trace_settings", {"log_retention_days": wrong}).status == 400
    admin.must("PUT", "/v1/projects/shop/trace_settings", {"log_retention_days": 0})
    wait_until(
        lambda: client.post("/v1/logs", logs_json([plain_record("dropped")])).status == 200
        and client.must("GET", "/v1/projects/shop/ledger").data["log_records_dropped"] > 0,
        "the setting",
    )
    ledger = client.must("GET", "/v1/projects/shop/ledger").data
    assert list(ledger["dropped_by_reason"]) == ["log records are switched off in the project's settings"], ledger


def test_metrics_about_models_become_series(binary, stack):
    server = stack.enter_context(Server(binary))
    key = key_of(server)
    client, hone = server.client(key), Hone(server, key)
    started = now_ns() - 60 * MINUTE
    tokens = [point(100, 5 * MINUTE, started, type="input"), point(130, MINUTE, started, type="input"), point(7, MINUTE, started, type="output")]
    cost = [point(0.25, MINUTE, model="claude-sonnet-5")]
    duration = {"timeUnixNano": str(now_ns() - MINUTE), "count": "4", "sum": 6.0, "bucketCounts": ["0", "4", "0"], "explicitBounds": [1, 2]}
    body = metrics_json(
        [
            metric("claude_code.token.usage", "tokens", "sum", 2, tokens),
            metric("claude_code.cost.usage", "USD", "sum", 1, cost),
            metric("gen_ai.client.operation.duration", "s", "histogram", 1, [duration]),
            metric("http.client.request.duration", "s", "histogram", 1, [duration]),
        ]
    )
    for _ in range(2):  # a retry counts once
        assert client.post("/v1/metrics", body).json == {}
    known = wait_until(lambda: (rows := client.must("GET", "/v1/projects/shop/metrics").data) and len(rows) == 3 and rows, "three metrics")
    assert {row["metric"]: row["use"] for row in known} == {
        "claude_code.token.usage": "tokens",
        "claude_code.cost.usage": "cost",
        "gen_ai.client.operation.duration": "latency",
    }, known

    def series(name, **query):
        text = "&".join(f"{key}={value}" for key, value in ({"metric": name, "bucket": "0s"} | query).items())
        return client.must("GET", f"/v1/projects/shop/metrics/series?{text}").data

    by_type = {bucket["group"]: bucket["sum"] for bucket in series("claude_code.token.usage", group_by="type")["buckets"]}
    assert by_type == {"input": 130, "output": 7}, by_type
    [spent] = series("claude_code.cost.usage")["buckets"]
    assert spent["sum"] == 0.25, spent
    [latency] = series("gen_ai.client.operation.duration")["buckets"]
    assert (latency["count"], latency["mean"], latency["p50"]) == (4, 1.5, 1.5), latency
    assert series("gen_ai.nothing")["buckets"] == []
    assert client.get("/v1/projects/shop/metrics/series?metric=claude_code.token.usage&group_by=now()").status == 400
    ledger = client.must("GET", "/v1/projects/shop/ledger").data
    assert (ledger["metric_points"], ledger["metric_points_dropped"]) == (12, 2), ledger
    assert "claude_code.token.usage" in hone.run("metrics").stdout
    assert "137" in hone.run("metrics", "claude_code.token.usage").stdout
    assert hone.json("metrics", "claude_code.token.usage")["use"] == "tokens"
    rows = json.loads(hone.run("sql", "SELECT metric, count() AS n FROM metric_points GROUP BY metric ORDER BY metric", "--json").stdout)
    assert len(rows) == 3, rows
