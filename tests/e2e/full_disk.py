"""A disk of two gigabytes that spans fill: they are refused before it is full, with what merges write beside them; all
that was acknowledged is stored, and spans are accepted again once there is room."""

import base64
import http.client
import json
import os
import pathlib
import threading

from power_cut import Disk, Machine, stored_spans
from server import wait_until
from telemetry import key_of, otlp_json

SPANS, TEXT_BYTES = 40, 15_000  # of a request; of the random bytes in a span


def body_of(ids):
    """Random text, which no codec makes small."""
    spans = [(each, each, 0, "fill", {"blob": base64.b64encode(os.urandom(TEXT_BYTES)).decode()}) for each in ids]
    return json.dumps(otlp_json(spans))


class Filling(threading.Thread):
    """Sends until the disk is short of space."""

    def __init__(self, server, key, number):
        super().__init__(daemon=True)
        self.client = server.client(key)
        self.number = number
        self.acknowledged, self.wrong, self.refusal = set(), [], None

    def run(self):
        connection = self.client.connection()
        headers = {"Authorization": f"Bearer {self.client.key}", "Content-Type": "application/json"}
        batch = 0
        try:
            while True:
                batch += 1
                ids = [self.number * 1_000_000 + batch * 100 + index for index in range(SPANS)]
                connection.request("POST", "/v1/traces", body_of(ids), headers)
                response = connection.getresponse()
                answer = response.read().decode()
                if response.status == 200:
                    self.acknowledged.update(ids)
                elif response.status == 503 and "almost full" in answer:
                    self.refusal = (answer, response.getheader("Retry-After"))
                    return
                elif response.status != 429:  # too much waits: the next request, as an exporter does
                    self.wrong.append((response.status, answer[:200]))
                    return
        except (OSError, http.client.HTTPException) as failed:
            self.wrong.append(("connection", str(failed)))
        finally:
            connection.close()


class Watch(threading.Thread):
    """The least free space of a disk."""

    def __init__(self, place):
        super().__init__(daemon=True)
        self.place, self.ended = place, threading.Event()
        self.least = self.free()

    def free(self):
        status = os.statvfs(self.place)
        return status.f_bavail * status.f_frsize

    def run(self):
        while not self.ended.wait(0.02):
            self.least = min(self.least, self.free())


def test_spans_are_refused_before_the_disk_is_full_and_all_acknowledged_ones_are_stored(binary, stack):
    machine = Machine(binary, stack, disk=Disk(stack, 2048))
    machine.server.start()
    key = key_of(machine.server)
    filler = pathlib.Path(machine.disk.seen) / "filler"
    with open(filler, "wb") as file:
        os.posix_fallocate(file.fileno(), 0, 800 << 20)
    watch = Watch(machine.disk.seen)
    watch.start()
    stack.callback(watch.ended.set)
    senders = [Filling(machine.server, key, number) for number in range(1, 4)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join(500)
        assert not sender.wrong, sender.wrong
        assert sender.refusal and sender.refusal[1], "it was never refused"
    acknowledged = set().union(*(sender.acknowledged for sender in senders))
    # What the log holds is stored on the space that is kept for it.
    try:
        found = stored_spans(machine.server.client(key))
    except AssertionError:
        print("\n".join(line[:300] for line in machine.server.output().splitlines()[-30:]))
        print(f"      free: {watch.free() >> 20} MB, at least {watch.least >> 20} MB")
        print("\n".join(line for line in machine.server.client().get("/metrics").text.splitlines() if line.startswith("hone_span")))
        raise
    assert len(found) == len(set(found)), f"{len(found) - len(set(found))} spans are stored twice"
    assert acknowledged <= set(found), f"{len(acknowledged - set(found))} of {len(acknowledged)} spans are lost"
    filler.unlink()
    client = machine.server.client(key)
    again = [9_000_000 + index for index in range(SPANS)]
    wait_until(lambda: client.post("/v1/traces", body_of(again).encode()).status == 200, "spans are accepted again")
    assert acknowledged | set(again) <= set(stored_spans(client))
    print(f"      {len(acknowledged)} spans acknowledged, at least {watch.least >> 20} MB free, none lost")
    assert watch.least > 0, "the disk was full"
    assert machine.server.stop() == 0
