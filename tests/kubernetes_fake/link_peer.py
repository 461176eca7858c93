"""The pod's end of the link (docs/adr/0022), for tests: the frames, streams with offsets, and a few things that a pod does
with them. It outlives a channel, as the first process of a pod does. Written from the description, not from the C++."""

import json
import struct
import threading

HELLO, OPEN, DATA, WINDOW, END, RESET, PING, PONG = range(1, 9)
WINDOW_BYTES = 256 << 10


def output_text(size):
    """What command 0 wrote: numbers, so that a missing or repeated byte shows."""
    text = b"".join(b"%d " % number for number in range(size // 2))
    return text[:size]


class Stream:
    def __init__(self, number, kind, ours):
        self.number, self.kind, self.ours = number, kind, ours
        self.reliable = kind != "connection"
        self.known = not ours or number == 0
        self.open_sent = not ours or number == 0
        self.open = {}
        self.unacknowledged, self.acknowledged, self.sent, self.limit = b"", 0, 0, WINDOW_BYTES
        self.ended = False  # our direction
        self.received, self.got, self.peer_ended = 0, b"", False
        self.window_due = number != 0 and not ours


class LinkPeer:
    def __init__(self, sandbox, boot, output_bytes):
        self.sandbox, self.boot = sandbox, boot
        self.epoch, self.session = 0, ""
        self.streams = {0: Stream(0, "calls", False)}
        self.next_number, self.last_peer = 1, 0
        self.output = output_text(output_bytes)
        self.inputs = {}  # command → bytes
        self.sends = {}  # what is requested → what this pod sends then, also what no pod should send
        self.files = {}  # what was sent here → bytes, and whether they ended
        self.channel, self.last_channel, self.buffers = 0, 0, {}
        self.lock = threading.RLock()
        self.hellos = 0

    # --- one channel: `feed` gets bytes, returns bytes; ValueError ends the channel

    def connect(self):
        """A new channel. It takes the place of the one that counts when its hello is accepted, not before."""
        with self.lock:
            self.last_channel += 1
            self.buffers[self.last_channel] = b""
            return self.last_channel

    def take_over(self, channel, payload):
        hello = json.loads(payload)
        if hello["version"] != 1 or hello["sandbox"] != self.sandbox:
            raise ValueError("not for this sandbox")
        if hello["epoch"] < self.epoch:
            raise ValueError("a newer server has this sandbox")
        self.channel, self.pong = channel, False
        self.streams = {number: stream for number, stream in self.streams.items() if stream.reliable}
        for stream in self.streams.values():
            stream.open_sent = not stream.ours or stream.number == 0
        self.take_hello(hello)

    def feed(self, channel, data):
        with self.lock:
            self.buffers[channel] += data
            while len(buffer := self.buffers[channel]) >= 9:
                kind, number, length = struct.unpack("<BII", buffer[:9])
                if length > 64 << 10:
                    raise ValueError("a frame that is too long")
                if len(buffer) < 9 + length:
                    break
                payload, self.buffers[channel] = buffer[9 : 9 + length], buffer[9 + length :]
                if kind == HELLO and channel > self.channel:
                    self.take_over(channel, payload)
                elif channel != self.channel:
                    raise ValueError("an older channel, or a frame before the hello")
                else:
                    self.take(kind, number, payload)
            return self.poll(channel)

    def poll(self, channel):
        with self.lock:
            if channel < self.channel:
                raise ValueError("an older channel")
            return self.output_frames() if channel == self.channel else b""

    def take(self, kind, number, payload):
        if kind == HELLO:
            raise ValueError("a second hello")
        if kind == PING:
            self.pong = True
        elif kind == OPEN:
            if number % 2 != 0 or number <= self.last_peer:
                raise ValueError("a wrong number")
            self.last_peer = number
            opened = json.loads(payload)
            stream = self.streams[number] = Stream(number, opened["kind"], False)
            stream.open = opened
            if stream.kind == "output":
                start = opened.get("offset") or 0
                path = opened.get("path")
                stream.source = self.output[start:] if path is None else self.sends.get(path, b"")
        elif kind == RESET:
            self.streams.pop(number, None)
        elif number in self.streams:
            self.take_for_stream(kind, self.streams[number], payload)

    def take_for_stream(self, kind, stream, payload):
        stream.known = True
        if kind == DATA:
            (offset,) = struct.unpack("<Q", payload[:8])
            if offset > stream.received:
                raise ValueError(f"a gap in stream {stream.number}: {offset} after {stream.received}")
            fresh = payload[8 + stream.received - offset :]
            stream.received += len(fresh)
            stream.got += fresh
            stream.window_due = True
        elif kind == WINDOW:
            acknowledged, limit = struct.unpack("<QQ", payload)
            stream.limit = max(stream.limit, limit)
            self.acknowledge(stream, acknowledged)
        elif kind == END:
            stream.peer_ended = stream.window_due = True

    @staticmethod
    def acknowledge(stream, acknowledged):
        keep = min(acknowledged, stream.acknowledged + len(stream.unacknowledged)) - stream.acknowledged
        if keep > 0:
            stream.unacknowledged = stream.unacknowledged[keep:]
            stream.acknowledged += keep

    def take_hello(self, hello):
        if hello["session"] != self.session:
            self.streams = {0: Stream(0, "calls", False)}
            self.last_peer = 0
        self.epoch, self.session = hello["epoch"], hello["session"]
        is_ours = hello["boot"] in ("", self.boot)  # else they are streams of an earlier process
        listed = {entry["stream"]: entry for entry in hello["streams"]} if is_ours else {}
        for number, stream in list(self.streams.items()):
            if number in listed:
                stream.known = stream.open_sent = True
                self.acknowledge(stream, listed[number]["received"])
                stream.sent = listed[number]["received"]
                stream.limit = listed[number]["limit"]
            elif number != 0 and not (stream.ours and not stream.known):
                del self.streams[number]
        self.hello_due = True
        self.hellos += 1

    # --- what the pod does

    def dial(self, port):
        with self.lock:
            number, self.next_number = self.next_number, self.next_number + 2
            stream = self.streams[number] = Stream(number, "connection", True)
            stream.open = {"kind": "connection", "port": port, "command": None, "path": None, "offset": None}
            stream.unacknowledged = b"GET / HTTP/1.1\r\nHost: example\r\n\r\n"

    def work(self, stream):
        """Calls are returned; output is sent from its source; input is kept; the response of a connection ends it."""
        if stream.kind == "calls" and stream.got:
            stream.unacknowledged += stream.got
            stream.got = b""
        elif stream.kind == "output":
            room = WINDOW_BYTES - len(stream.unacknowledged)
            stream.unacknowledged += stream.source[:room]
            stream.source = stream.source[room:]
            stream.ended = not stream.source  # now: perhaps nothing more arrives that would wake this end
        elif stream.kind == "input":
            command = stream.open.get("command") or 0
            self.inputs[command] = self.inputs.get(command, b"") + stream.got
            stream.got = b""
            if stream.peer_ended:
                stream.ended = True
        elif stream.kind == "file":
            got, _ = self.files.get(stream.open["path"], (b"", False))
            self.files[stream.open["path"]] = (got + stream.got, stream.peer_ended)
            stream.got = b""
            if stream.peer_ended and not stream.ended:
                stream.unacknowledged += b"{}"  # done
                stream.ended = True
        elif stream.kind == "connection" and stream.peer_ended:
            stream.ended = True

    def output_frames(self):
        out = b""

        def frame(kind, number, payload=b""):
            return struct.pack("<BII", kind, number, len(payload)) + payload

        if self.hello_due:
            positions = [
                {"stream": s.number, "received": s.received + s.peer_ended, "limit": s.received + WINDOW_BYTES}
                for s in self.streams.values()
                if s.reliable
            ]
            hello = {"version": 1, "sandbox": self.sandbox, "epoch": self.epoch, "session": self.session,
                     "boot": self.boot, "streams": positions}
            out += frame(HELLO, 0, json.dumps(hello).encode())
            self.hello_due = False
        if self.pong:
            out += frame(PONG, 0)
            self.pong = False
        for stream in list(self.streams.values()):
            self.work(stream)
            if not stream.open_sent:
                out += frame(OPEN, stream.number, json.dumps(stream.open).encode())
                stream.open_sent = True
            if stream.window_due:
                out += frame(WINDOW, stream.number,
                             struct.pack("<QQ", stream.received + stream.peer_ended, stream.received + WINDOW_BYTES))
                stream.window_due = False
            end = stream.acknowledged + len(stream.unacknowledged)
            while stream.sent < min(end, stream.limit):
                start = stream.sent - stream.acknowledged
                piece = stream.unacknowledged[start : start + min(16 << 10, stream.limit - stream.sent)]
                out += frame(DATA, stream.number, struct.pack("<Q", stream.sent) + piece)
                stream.sent += len(piece)
            if stream.ended and stream.sent == end:
                out += frame(END, stream.number, struct.pack("<Q", end))
                stream.sent += 1
        return out
