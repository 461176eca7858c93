"""The span log in the object store: while spans cannot be stored, a server accepts more of them than its disk may hold."""

from objects import KEYS, Bucket, Proxy
from server import PATIENCE, Server, wait_until
from servers import SpanStore
from telemetry import key_of, otlp_json

LIMIT = 64 << 20  # the smallest span_log_limit
SPANS = 600  # of 200 kB: about twice the limit
GONE = 7


def log_bytes(server):
    folder = server.data_dir / "telemetry/wal"
    return sum(path.stat().st_size for path in folder.iterdir() if path.suffix == ".wal")


def numbers(store):
    """Of the spans that are stored, with repetitions."""
    return sorted(int(line, 16) for line in store.query("SELECT span_id FROM hone.spans", "hone").split())


class Busy:
    """A server whose span store is away, with spans in its object store."""

    def __init__(self, binary, stack):
        self.store = SpanStore(binary, stack)
        self.bucket = Bucket(stack)
        self.proxy = Proxy(stack, self.bucket.port)
        location = self.bucket.location(port=self.proxy.port)
        flags = ("--span-log-limit", str(LIMIT), "--requests-per-minute", "0", "--object-store", location)
        self.server = stack.enter_context(Server(binary, None, *flags, *self.store.flags(), environment=KEYS))
        self.key = key_of(self.server)
        self.store.gates[0].is_away.set()

    def send(self, first, last):
        client = self.server.client(self.key)
        for number in range(first, last + 1):
            body = otlp_json([(number, number, 0, "big", {"text": "x" * 200_000})])

            def is_accepted():
                answer = client.post("/v1/traces", body)
                # either: 429 until a part of the log has gone to the object store
                assert answer.status in (200, 429), answer.text
                return answer.status == 200

            wait_until(is_accepted, f"span {number} is accepted")

    def objects(self):
        return [key for key in self.bucket.keys() if key.startswith("wal/") and not key.endswith("/here")]

    def metric(self, name):
        lines = self.server.client().get("/metrics").text.splitlines()
        return next(float(line.split()[1]) for line in lines if line.startswith(f"hone_{name} "))


def test_spans_that_the_disk_has_no_room_for_wait_in_the_object_store_and_are_stored_once(binary, stack):
    busy = Busy(binary, stack)
    busy.send(1, SPANS)
    assert busy.objects() and log_bytes(busy.server) <= LIMIT
    assert busy.metric("span_log_object_bytes") > LIMIT / 2
    # Killed: the next process knows what is in the object store, and goes on.
    busy.server.kill()
    busy.server.start()
    assert busy.metric("span_log_object_bytes") > LIMIT / 2
    busy.send(SPANS + 1, SPANS + 20)
    busy.store.gates[0].is_away.clear()
    wait_until(lambda: len(numbers(busy.store)) >= SPANS + 20, "all spans are stored", 4 * PATIENCE)
    assert numbers(busy.store) == list(range(1, SPANS + 21))
    wait_until(lambda: not busy.objects(), "the object store has no part of the log any more")
    assert busy.metric("span_log_object_bytes") == 0 and busy.metric("spans_pending") == 0
    assert busy.metric("span_log_damaged_bytes") == 0


def test_an_object_store_that_is_away_delays_spans_and_a_lost_object_is_reported(binary, stack):
    busy = Busy(binary, stack)
    busy.send(1, SPANS)
    keys = busy.objects()
    assert len(keys) > 2, keys
    # Somebody deletes one of them and changes another one: their spans are lost, and nothing else is.
    for path in busy.bucket.files_of(keys[0]):
        path.unlink(missing_ok=True)
    with open(busy.bucket.files_of(keys[1])[0], "r+b") as file:
        file.seek(GONE)
        file.write(b"\xff")
    busy.proxy.cut_upload_after = -1
    busy.store.gates[0].is_away.clear()
    first = wait_until(lambda: (found := numbers(busy.store)) and found, "what is on the disk is stored")
    assert first == list(range(1, len(first) + 1)) and len(first) < SPANS
    assert busy.metric("span_log_object_bytes") > 0
    busy.proxy.cut_upload_after = None
    wait_until(lambda: busy.metric("span_log_object_bytes") == 0 and busy.metric("spans_pending_bytes") == 0, "the rest is stored", 4 * PATIENCE)
    found = numbers(busy.store)
    assert len(found) == len(set(found)) and SPANS in found
    assert 0 < SPANS - len(found) < SPANS / 2, len(found)
    assert busy.metric("span_log_damaged_bytes") > 0
    assert "is lost: its spans are missing" in busy.server.output()
