"""Requests with spans whose bodies are made in a millisecond, so that a measurement is of the server and not of Python."""

import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/e2e"))

from telemetry import otlp_json  # noqa: E402

SPANS = 200  # of one request, five of each trace
TEXT = "The order was not found in the warehouse, so the agent looked it up again by its number. " * 4
MARK = "f0f1f2f3f4f5"  # the first digits of every id, in their place the number of the request


class Requests:
    """Bodies that differ in their ids and times only. `client` (below 65,536) makes those of several processes different."""

    def __init__(self, client=0):
        self.client, self.number, self.made_at, self.services = client, 0, 0.0, {}

    def template(self, service):
        attributes = {"gen_ai.request.model": "m", "input.value": TEXT, "output.value": TEXT}
        made = otlp_json([(1, 1, 0, "chat", attributes) for _ in range(SPANS)], service)
        for index, span in enumerate(made["resourceSpans"][0]["scopeSpans"][0]["spans"]):
            span["traceId"], span["spanId"] = f"{MARK}{index // 5 + 1:020x}", f"{MARK}{index + 1:04x}"
        return json.dumps(made)

    def next(self, service):
        if time.monotonic() - self.made_at > 60:  # its times are those of now
            self.services, self.made_at = {}, time.monotonic()
        if service not in self.services:
            self.services[service] = self.template(service)
        self.number += 1
        return self.services[service].replace(MARK, f"{self.client:04x}{self.number:08x}")
