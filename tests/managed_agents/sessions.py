"""One scripted session: its history, its live feed, and the thread that plays its turns."""

import base64
import copy
import random
import re
import threading
import time

from objects import Refused, check_metadata, need, now, patched, text_of_time, tools_of

PRICES = {"input_tokens": 300, "output_tokens": 1500, "cache_read_input_tokens": 30, "cache_creation_input_tokens": 375}  # cents per million
SENT = ("user.message", "user.interrupt", "user.tool_confirmation", "user.custom_tool_result", "user.tool_result", "user.define_outcome",
        "system.message")
PATIENCE = 20  # seconds after which a wait of the play ends, so that a client that hangs fails its test


class Interrupted(Exception):
    pass


class Ended(Exception):
    """The session was archived or deleted under its turn: no event follows."""


class Stopped(Exception):
    """The turn ends with another reason than `end_turn`."""

    def __init__(self, reason, details=None):
        super().__init__(reason)
        self.reason, self.details = {"type": reason}, details


class Session:
    def __init__(self, catalog, body, play, seed, faults):
        self.catalog, self.ids, self.play, self.faults = catalog, catalog.ids, play, faults
        self.noise, self.random = play.get("noise", {}), random.Random(seed)
        self.condition = threading.Condition(threading.RLock())
        self.history, self.queued, self.feed = [], [], []   # [event, when it is listed]; sent and not processed; what streams send
        self.streams = []                                    # open ones, each with the position it has sent
        self.inbox, self.open_calls, self.turns = [], {}, 0
        self.accepted, self.refused_results, self.calls = {}, 0, 0
        self.totals = {name: 0 for name in PRICES}
        self.active_seconds, self.cost, self.ended, self.status_changes = 0.0, 0, "", [(0.0, "idle")]
        self.thread_id = self.ids.make("sthr")
        self.document = self.made(body)
        need(len(body.get("initial_events", [])) <= 50, "initial_events: at most 50")
        for event in body.get("initial_events", []):
            need(event.get("type") in ("user.message", "user.define_outcome"), "initial_events: user.message or user.define_outcome")
        if body.get("initial_events"):
            self.send(body["initial_events"])
        threading.Thread(target=self.run, daemon=True).start()

    def made(self, body):
        agent, environment = self.catalog.agent(body.get("agent") or {}), self.catalog.find("environment", body.get("environment_id"))
        need(not environment["archived_at"], "the environment is archived")
        for vault in body.get("vault_ids", []):
            self.catalog.find("vault", vault)
        self.environment = environment
        self.had_budget = body.get("budget") is not None
        return {"id": self.ids.make("sesn"), "type": "session", "agent": agent, "environment_id": environment["id"],
                "title": body.get("title"), "metadata": check_metadata(body.get("metadata", {})), "vault_ids": body.get("vault_ids", []),
                "budget": self.budget_of(body.get("budget")), "resources": self.resources_of(body.get("resources", [])),
                "outcome_evaluations": [], "archived_at": None, "created_at": now(), "updated_at": now(), "deployment_id": None}

    def budget_of(self, budget):
        if budget is None:
            return None
        amount = budget.get("max_list_cost", {})
        need(budget.get("type") == "limit" and amount.get("currency") == "USD", "budget: a limit in USD")
        need(re.fullmatch(r"[1-9][0-9]*", str(amount.get("amount"))) and isinstance(amount["amount"], str), "budget: an integer text of cents")
        return budget

    def resources_of(self, resources):
        need(len(resources) <= 999, "resources: at most 999")
        made = []
        for resource in resources:
            common = {"id": self.ids.make("sesrsc"), "type": resource.get("type"), "created_at": now(), "updated_at": now()}
            if resource.get("type") == "github_repository":
                need(re.fullmatch(r"https://github\.com/[^/]+/[^/]+", resource.get("url", "")), "resources: the URL of a GitHub repository")
                name = resource["url"].split("/")[-1].removesuffix(".git")
                made.append(common | {"url": resource["url"], "checkout": resource.get("checkout"),
                                      "mount_path": resource.get("mount_path") or f"/workspace/{name}"})
            else:
                need(resource.get("type") == "file", "resources: github_repository or file")
                copied = self.catalog.find("file", resource.get("file_id"))
                file = self.catalog.add_file(copied["metadata"]["filename"], copied["content"])  # another id in the session
                made.append(common | {"file_id": file["id"], "mount_path": resource.get("mount_path") or f"/mnt/session/uploads/{file['id']}"})
        return made

    # --- what clients read --------------------------------------------------------------------------------------------

    @property
    def status(self):
        return [status for at, status in self.status_changes if at <= time.time()][-1]

    def set_status(self, status, lag=0.0):
        self.status_changes = [(at, old) for at, old in self.status_changes if at <= time.time()] + [(time.time() + lag, status)]

    def view(self):
        with self.condition:
            return self.document | {"status": self.status, "usage": self.usage(), "stats": {"active_seconds": self.active_seconds,
                                                                                            "duration_seconds": self.active_seconds}}

    def usage(self):
        return {"input_tokens": self.totals["input_tokens"], "output_tokens": self.totals["output_tokens"],
                "cache_read_input_tokens": self.totals["cache_read_input_tokens"], "active_seconds": self.active_seconds,
                "cache_creation": {"ephemeral_5m_input_tokens": self.totals["cache_creation_input_tokens"], "ephemeral_1h_input_tokens": 0},
                "list_cost": {"amount": str(self.cost // 1_000_000), "currency": "USD"},
                "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0}}

    def listed(self):
        """The history as far as it is visible, then what waits. Oldest first; a prefix, however far it lags."""
        with self.condition:
            visible = []
            for event, visible_at in self.history:
                if visible_at > time.time():
                    break
                visible.append(event)
            return visible + list(self.queued)

    def truth(self):
        with self.condition:
            return {"events": [{"id": event["id"], "type": event["type"]} for event, _ in self.history], "usage": self.totals,
                    "accepted": self.accepted, "refused_results": self.refused_results, "status": self.status, "ended": self.ended,
                    "queued": len(self.queued), "cost_microcents": self.cost}

    # --- what clients send --------------------------------------------------------------------------------------------

    def send(self, events):
        need(isinstance(events, list) and events, "events: field required")
        with self.condition:
            need(not self.document["archived_at"], "the session is archived")
            need(self.ended != "terminated", "the session has terminated")
            for index, event in enumerate(events):
                self.check(event, events[index - 1] if index else None, index == len(events) - 1)
            return {"data": [self.take(event) for event in events]}

    def check(self, event, previous, is_last):
        kind = event.get("type")
        need(kind in SENT, f"events: unknown type {kind}")
        if kind == "user.message":
            need(isinstance(event.get("content"), list) and event["content"], "events: content is required")
        if kind == "system.message":
            need(is_last and previous and previous["type"] in ("user.message", "user.tool_result", "user.custom_tool_result"),
                 "events: system.message must be last and follow a user event")
        if kind == "user.tool_result":
            need(self.environment["config"]["type"] == "self_hosted", "events: user.tool_result is for self_hosted environments")
        if kind in ("user.custom_tool_result", "user.tool_confirmation", "user.tool_result"):
            id = event.get("custom_tool_use_id" if kind == "user.custom_tool_result" else "tool_use_id")
            if self.open_calls.get(id) != kind:
                self.refused_results += 1
                raise Refused(400, f"events: {id} does not wait for {kind}")

    def take(self, event):
        kind = event["type"]
        made = copy.deepcopy(event) | {"id": self.ids.make("sevt"), "processed_at": None}
        if kind == "user.interrupt" and self.play.get("empty_interrupt_id"):
            made["id"] = ""
        if kind in ("user.custom_tool_result", "user.tool_confirmation", "user.tool_result"):
            id = event.get("custom_tool_use_id") or event.get("tool_use_id")
            del self.open_calls[id]
            self.accepted[id] = self.accepted.get(id, 0) + 1
        self.queued.append(made)
        self.feed.append(made)
        self.inbox.insert(0, made) if kind == "user.interrupt" else self.inbox.append(made)
        self.condition.notify_all()
        return made

    def update(self, body):
        with self.condition:
            need(self.status != "terminated", "the session has terminated")
            need("vault_ids" not in body, "vault_ids: only at creation")
            if "budget" in body:
                need(self.had_budget, "budget_create_only")
                budget = self.budget_of(body["budget"])
                need(budget is None or int(budget["max_list_cost"]["amount"]) * 1_000_000 > self.cost, "budget_not_raised")
                self.document["budget"], self.had_budget = budget, budget is not None
            if "agent" in body:
                need(self.status != "running", "the session is running")
                changed = {"tools": tools_of(body["agent"]["tools"])} if "tools" in body["agent"] else {}
                self.document["agent"] = self.document["agent"] | changed | {
                    key: body["agent"][key] for key in ("mcp_servers",) if key in body["agent"]}
            self.document |= {"title": body.get("title", self.document["title"]), "updated_at": now(),
                              "metadata": patched(self.document["metadata"], body.get("metadata"))}
            self.emit("session.updated", title=self.document["title"], metadata=self.document["metadata"], budget=self.document["budget"])
        return self.view()

    def archive(self):
        with self.condition:
            need(self.status in ("idle", "terminated"), f"the session is {self.status}")
            self.document["archived_at"] = self.document["archived_at"] or now()
            self.ended = self.ended or "archived"
            self.condition.notify_all()
        return self.view()

    def delete(self):
        with self.condition:
            need(self.status in ("idle", "terminated"), f"the session is {self.status}")
            self.end("deleted", "session.deleted")
        return {"id": self.document["id"], "type": "session_deleted"}

    def end(self, how, event):
        with self.condition:
            self.emit(event)
            self.ended = how
            self.set_status("terminated")
            self.condition.notify_all()

    # --- events -------------------------------------------------------------------------------------------------------

    def chance(self, name):
        return self.random.random() < self.noise.get(name, 0)

    def publish(self, event):
        """Into the history and to the streams; twice to the streams when the play is noisy."""
        with self.condition:
            if self.chance("fields"):
                event["field_of_the_future"] = {"nested": [1, None, "two"]}
            lag = self.random.uniform(0, self.noise.get("lag", 0))
            self.history.append([event, time.time() + lag])
            self.feed += [event] * (2 if self.chance("duplicate") else 1)
            at = len(self.feed)
            self.condition.notify_all()
        if self.chance("unknown"):
            with self.condition:
                strange = {"id": self.ids.make("sevt"), "type": "agent.type_of_the_future", "processed_at": now(), "depth": [[[]]]}
                self.history.append([strange, time.time() + lag])
                self.feed.append(strange)
                self.condition.notify_all()
        if self.noise.get("pace") and threading.current_thread() is not threading.main_thread():
            self.wait_for_streams(at)

    def wait_for_streams(self, at):
        """Goes on when the event was sent or its stream was cut; half of the time also while nobody is connected."""
        with self.condition:
            if not self.streams and self.random.random() < 0.5:
                self.condition.wait_for(lambda: self.streams or self.ended, PATIENCE)
            self.condition.wait_for(lambda: all(stream.at >= at for stream in self.streams) or self.ended, PATIENCE)

    def emit(self, type, **fields):
        event = {"id": self.ids.make("sevt"), "type": type, "processed_at": now()} | fields
        self.publish(event)
        return event

    def preview(self, **frame):
        """On streams that opted in only, and shed at random."""
        with self.condition:
            if not self.chance("shed"):
                self.feed.append(frame)
                self.condition.notify_all()

    def processed(self, event):
        with self.condition:
            if event in self.queued:
                self.queued.remove(event)
            self.publish(event | {"processed_at": now()})

    def running(self):
        self.set_status("running")
        self.emit("session.status_running")
        self.emit("session.thread_status_running", session_thread_id=self.thread_id, agent_name=self.document["agent"]["name"])

    def idle(self, reason, details=None):
        if reason["type"] != "requires_action":
            self.emit("session.usage", usage=self.usage(), budget=self.document["budget"])
            self.open_calls.clear()
        self.emit("session.thread_status_idle", session_thread_id=self.thread_id, agent_name=self.document["agent"]["name"],
                  stop_reason=reason, stop_details=details)
        self.set_status("idle", self.play.get("idle_lag", 0.1))  # the event comes before the status
        self.emit("session.status_idle", stop_reason=reason, stop_details=details)

    # --- turns --------------------------------------------------------------------------------------------------------

    def run(self):
        try:
            while not self.ended:
                with self.condition:
                    self.condition.wait_for(lambda: self.inbox or self.ended)
                    if self.ended:
                        return
                    event = self.inbox.pop(0)
                if event["type"] == "user.message" and self.turns >= self.play.get("discard_after", self.turns + 1):
                    with self.condition:
                        self.queued.remove(event)
                elif event["type"] in ("user.message", "user.define_outcome"):
                    self.turn(event)
                else:
                    self.processed(event)
        except Ended:
            pass
        except Exception as problem:  # a mistake in a play is seen in the truth
            self.ended = f"the play failed: {problem!r}"

    def turn(self, message):
        self.running()
        if self.turns == 0:
            self.prepare()
        self.processed(message)
        turns = self.play["turns"]
        steps, self.turns = turns[min(self.turns, len(turns) - 1)], self.turns + 1
        try:
            self.check_budget()
            for step in steps:
                self.checkpoint()
                self.step(step)
                if self.ended:
                    return
            self.idle({"type": "end_turn"})
        except Interrupted:
            self.idle({"type": "end_turn"})
        except Stopped as stopped:
            self.idle(stopped.reason, stopped.details)

    def prepare(self):
        error = self.play.get("repository_error")
        urls = [resource["url"] for resource in self.document["resources"] if resource["type"] == "github_repository"]
        if error and urls:
            self.emit("session.error", error={"type": error, "message": "the repository could not be cloned", "repository_url": urls[0],
                                              "retry_status": {"type": "retrying"}})

    def checkpoint(self):
        with self.condition:
            if self.ended:
                raise Ended()
            if self.inbox and self.inbox[0]["type"] == "user.interrupt":
                self.processed(self.inbox.pop(0))
                raise Interrupted()

    def check_budget(self):
        budget = self.document["budget"]
        if budget and self.cost >= int(budget["max_list_cost"]["amount"]) * 1_000_000:
            raise Stopped("budget_reached")

    def model_request(self, step, produce):
        """One call of the model. Its numbers differ from call to call, so that a mix-up shows."""
        start = self.emit("span.model_request_start")
        produced = produce()
        n, self.calls = self.calls, self.calls + 1
        usage = {"input_tokens": 100 + n * 37 % 900, "output_tokens": 20 + n * 29 % 300, "cache_read_input_tokens": n * 53 % 700,
                 "cache_creation_input_tokens": n * 11 % 90} | step.get("usage", {})
        with self.condition:
            for name, tokens in usage.items():
                self.totals[name] += tokens
                self.cost += tokens * PRICES[name]
            self.active_seconds += 1.25
        self.emit("span.model_request_end", model_request_start_id=start["id"], model_usage=usage, is_error=False)
        return produced

    def step(self, step):
        kind = next(name for name in ("say", "think", "tool", "mcp", "custom", "error", "stop", "emit", "file", "wait_for_interrupt",
                                      "terminate", "delete", "rescheduled", "until_cuts") if name in step)
        getattr(self, "step_" + kind)(step)
        if kind in ("say", "tool", "mcp", "custom"):
            self.check_budget()

    def step_say(self, step):
        text = step["say"] * step.get("repeat", 1)

        def produce():
            id = self.ids.make("sevt")
            self.preview(type="event_start", event={"type": "agent.message", "id": id})
            for piece in (text[at:at + 8] for at in range(0, min(len(text), 64), 8)):
                self.preview(type="event_delta", event_id=id, delta={"type": "content_delta", "index": 0, "content": {"type": "text", "text": piece}})
            self.publish({"id": id, "type": "agent.message", "processed_at": now(), "content": [{"type": "text", "text": text}]})
        self.model_request(step, produce)

    def step_think(self, _):
        self.emit("agent.thinking")

    def step_tool(self, step):
        permission = "ask" if step.get("ask") else "allow"
        use = self.model_request(step, lambda: self.emit(
            "agent.tool_use", name=step["tool"], input=step.get("input", {}), evaluated_permission=permission,
            evaluation={"type": f"always_{permission}"}))
        result = {"tool_use_id": use["id"], "is_error": step.get("is_error", False),
                  "content": [{"type": "text", "text": step.get("result", "done") * step.get("repeat", 1)}]}
        try:
            if step.get("ask"):
                verdict = self.wait_for_actions({use["id"]: "user.tool_confirmation"})[use["id"]]
                if verdict["result"] == "deny":
                    result |= {"is_error": True, "content": [{"type": "text", "text": verdict.get("deny_message") or "denied"}]}
            if step.get("until_interrupt"):
                self.step_wait_for_interrupt(step)
        except Interrupted:
            self.emit("agent.tool_result", tool_use_id=use["id"], is_error=True, content=[{"type": "text", "text": "interrupted"}])
            raise
        self.emit("agent.tool_result", **result)

    def step_mcp(self, step):
        use = self.model_request(step, lambda: self.emit(
            "agent.mcp_tool_use", mcp_server_name=step["mcp"], name=step.get("name", "read"), input={}, evaluated_permission="allow"))
        self.emit("agent.mcp_tool_result", mcp_tool_use_id=use["id"], content=[{"type": "text", "text": "done"}], is_error=False)

    def step_custom(self, step):
        uses = self.model_request(step, lambda: [self.emit("agent.custom_tool_use", name=call["name"], input=call.get("input", {}))
                                                 for call in step["custom"]])
        self.wait_for_actions({use["id"]: "user.custom_tool_result" for use in uses})

    def wait_for_actions(self, waiting):
        """Idle until all calls have their result; an idle event with the rest after each that is not the last."""
        found = {}
        with self.condition:
            self.open_calls |= waiting
        self.idle({"type": "requires_action", "event_ids": list(waiting)})
        while len(found) < len(waiting):
            with self.condition:
                self.condition.wait_for(lambda: self.inbox or self.ended)
                self.checkpoint()
                index = next((i for i, event in enumerate(self.inbox) if event["type"] in waiting.values()), None)
                if index is None:
                    self.condition.wait(0.05)
                    continue
                event = self.inbox.pop(index)
            self.processed(event)
            found[event.get("custom_tool_use_id") or event.get("tool_use_id")] = event
            rest = [id for id in waiting if id not in found]
            if rest:
                self.idle({"type": "requires_action", "event_ids": rest})
        self.running()
        return found

    def step_error(self, step):
        status = step.get("retry_status", "retrying")
        self.emit("session.error", error={"type": step["error"], "message": step.get("message", "scripted fault"),
                                          "retry_status": {"type": status}} | step.get("fields", {}))
        if status == "exhausted":
            raise Stopped("retries_exhausted")
        if status == "terminal":
            self.end("terminated", "session.status_terminated")

    def step_stop(self, step):
        details = {"type": "refusal", "category": step.get("category"), "explanation": step.get("explanation")}
        raise Stopped(step["stop"], details if step["stop"] == "refusal" else None)

    def step_emit(self, step):
        self.emit(step["emit"], **step.get("fields", {}))

    def step_file(self, step):
        content = base64.b64decode(step["base64"]) if "base64" in step else (step.get("content", "made") * step.get("repeat", 1)).encode()
        self.catalog.add_file(step["file"], content, "text/plain", self.document["id"], time.time() + self.play.get("file_lag", 2.0))

    def step_wait_for_interrupt(self, _):
        with self.condition:
            self.condition.wait_for(lambda: self.ended or (self.inbox and self.inbox[0]["type"] == "user.interrupt"))
        self.checkpoint()

    def step_terminate(self, _):
        self.end("terminated", "session.status_terminated")

    def step_delete(self, _):
        self.end("deleted", "session.deleted")

    def step_rescheduled(self, _):
        self.set_status("rescheduling")
        self.emit("session.status_rescheduled")
        self.running()

    def step_until_cuts(self, step):
        """Lines until the streams were cut this often: no test passes because it ended before the faults came."""
        line = 0
        while self.faults.cut < step["until_cuts"] and not self.ended:
            self.checkpoint()
            self.step_say({"say": f"line {line}"})
            line += 1


def page(items, query, default=20):
    """Items from the cursor on: {data, next_page}. The cursor is opaque to clients."""
    limit = int(query.get("limit", [default])[0])
    need(1 <= limit <= 1000, "limit: 1 to 1000")
    cursor = query.get("page", [""])[0]
    need(not cursor or re.fullmatch(r"page_[0-9]+", cursor), "page: not a cursor")
    start = int(cursor[5:]) if cursor else 0
    return {"data": items[start:start + limit], "next_page": f"page_{start + limit}" if start + limit < len(items) else None,
            "prev_page": f"page_{max(0, start - limit)}" if start else None}


def filtered_events(events, query):
    """`types`, `order` and bounds on `processed_at`; an event that waits has no time and passes each lower bound."""
    types = query.get("types[]", []) + query.get("types", [])
    bounds = {"gt": lambda at, bound: at > bound, "gte": lambda at, bound: at >= bound, "lt": lambda at, bound: at < bound,
              "lte": lambda at, bound: at <= bound}
    for name, holds in bounds.items():
        for bound in query.get(f"created_at[{name}]", []):
            need(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", bound), f"created_at[{name}]: not a time")
            bound = normal(bound)
            events = [event for event in events if holds(event["processed_at"] or text_of_time(time.time()), bound)]
    events = [event for event in events if not types or event["type"] in types]
    return events[::-1] if query.get("order") == ["desc"] else events


def normal(text):
    """The same form as `text_of_time`, so that times compare as texts."""
    seconds, _, fraction = text[:-1].partition(".")
    return f"{seconds}.{(fraction + '000')[:3]}Z"
