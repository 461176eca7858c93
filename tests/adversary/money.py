"""Boundary: money. The attacker is a worker with a shell that calls models as fast as it can, or picks a model that costs
nothing by the books."""

from agents import Model
from attack import worker
from network import GATEWAY, model_skill
from runs import OVER, Shop

CALL = """call() { curl -s -o /tmp/out.$1 -w '%{http_code}\\n' -H 'content-type: application/json' GATEWAY/anthropic/v1/messages \
  -d '{"model":"MODEL","max_tokens":2000,"tools":[{"name":"t","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"'$(head -c 4000 /dev/zero | tr '\\0' x)'"}]}'; }
""".replace("GATEWAY", GATEWAY)


def test_parallel_calls_race_past_the_budget(binary, stack):
    """Gain: as many calls as run at the same time beyond the limit: with 16 in parallel, 16 times the price of one."""
    shop, model = Shop(binary, stack), Model(stack)
    # Each call of this play uses 5000 tokens; the budget has room for four.
    skill = model_skill(shop, model, "endless")
    script = CALL.replace("MODEL", "claude-sonnet-4") + """
        for i in $(seq 16); do call $i > /tmp/code.$i & done; wait
        cat /tmp/code.* | sort | uniq -c
    """
    run = shop.until(shop.start("/bin/sh", "-c", script, skills=[skill], budget={"tokens": 18000})["id"])
    assert run["state"] in OVER, run
    count = model.count("endless")
    told = sum(count["tokens"].values())
    assert 18000 <= told < 18000 + 5000, count
    assert count["requests"] == 4, count
    # The victim's books say the same.
    used = shop.run(run["id"])
    assert used["state"] == "budget_stopped", used


def test_calls_are_cut_off_before_they_are_counted(binary, stack):
    """Gain: the provider computes and charges, and the books count next to nothing, because the worker closes its
    connections before the numbers arrive."""
    shop, model = Shop(binary, stack), Model(stack)
    # Each call can use a little more than 7000 tokens: 4000 bytes of text, 2000 tokens of output and the tools.
    for play in ("hang", "stall"):
        skill = model_skill(shop, model, play)
        call = CALL.replace("MODEL", "claude-sonnet-4").replace("curl -s", "curl -s --max-time 1")
        if play == "stall":
            call = call.replace('"max_tokens"', '"stream":true,"max_tokens"')
        script = call + "for i in $(seq 16); do call $i & done; wait; for i in $(seq 16); do call $i; done"
        run = shop.until(shop.start("/bin/sh", "-c", script, skills=[skill], budget={"tokens": 18000})["id"])
        assert run["state"] == "budget_stopped", (run, shop.texts(run["id"]))
        # A stream reports its input at the start: what it does not report is the output.
        most = 3 if play == "hang" else 9
        assert 3 <= model.count(play)["requests"] <= most, model.count(play)
        usage = shop.client.must("GET", f"/v1/model_usage?run={run['id']}&group_by=run").data
        counted = sum(row["total_tokens"] + row["estimated_tokens"] for row in usage)
        assert counted >= 18000, usage


def test_a_model_without_a_price_is_called_under_a_cost_limit(binary, stack):
    """Gain: calls without end, because each of them costs nothing by the books."""
    shop, model = Shop(binary, stack), Model(stack)
    skill = model_skill(shop, model, "endless")
    script = CALL + "call 1; sed 's/^/response: /' /tmp/out.1; echo"
    _, lines = worker(shop, script.replace("MODEL", "free-by-the-books"), skills=[skill],
                      budget={"cost_micro_usd": 1_000_000})
    assert lines[0] == "400" and "has no price" in "".join(lines), lines
    assert model.count("endless")["requests"] == 0
    _, lines = worker(shop, script.replace("MODEL", "claude-sonnet-4"), skills=[skill], budget={"cost_micro_usd": 1_000_000})
    assert lines[0] == "200", lines  # the control
    # The space's limit holds as well as the run's.
    space = shop.client.must("GET", "/v1/spaces").data[0]["id"]
    shop.client.must("PUT", f"/v1/spaces/{space}/budget", {"cost_micro_usd_per_day": 1_000_000, "soft_percent": 80})
    _, lines = worker(shop, script.replace("MODEL", "free-by-the-books"), skills=[skill])
    assert lines[0] == "400", lines


def test_a_request_hides_how_much_it_will_use(binary, stack):
    """Gain: a reservation below what the call uses, by naming the limit twice, requesting many completions, or naming none."""
    shop, model = Shop(binary, stack), Model(stack)
    skill = model_skill(shop, model, "endless")
    body = '{"model":"claude-sonnet-4","max_tokens":9000,"max_tokens":1,"tools":[{"name":"t","input_schema":{}}],"messages":[{"role":"user","content":"x"}]}'
    script = f"""
        for i in $(seq 8); do curl -s -o /dev/null -H 'content-type: application/json' {GATEWAY}/anthropic/v1/messages -d '{body}' & done; wait
    """
    run = shop.until(shop.start("/bin/sh", "-c", script, skills=[skill], budget={"tokens": 6000})["id"])
    assert run["state"] in OVER, run
    assert model.count("endless")["requests"] <= 2, model.count("endless")
