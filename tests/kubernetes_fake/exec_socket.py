"""exec over a WebSocket (v5.channel.k8s.io), as an API server speaks it, for fake_api.py. The command chooses what happens:

cat                        its input comes back; ends with it
exit N                     ends with this code
errors                     writes to standard error, then ends
fragments                  a message in fragments, with pings between them
channel                    the link of the pod (link_peer.py); so does the command of a server, /hone-bin/hone-pod channel
garbage, wrong_channel, no_status, oversized, bad_close    what no server should send
"""

import base64
import hashlib
import json
import os
import select
import ssl
import struct

from pod_runtime import carry


def frame(opcode, payload, last=True):
    head = bytes([(0x80 if last else 0) | opcode])
    size = len(payload)
    if size < 126:
        head += bytes([size])
    elif size < 65536:
        head += bytes([126]) + struct.pack(">H", size)
    else:
        head += bytes([127]) + struct.pack(">Q", size)
    return head + payload


class Ended(Exception):
    pass


class ExecSession:
    def __init__(self, connection, cut_after):
        self.connection, self.buffer = connection, b""
        self.wake_read, self.wake_write = os.pipe()
        self.is_cut, self.left = False, cut_after
        connection.setblocking(False)

    def wake(self):
        os.write(self.wake_write, b"x")

    def cut(self):
        self.is_cut = True
        self.wake()

    def count(self, size):
        if self.left is not None:
            self.left -= size
            if self.left <= 0:
                self.is_cut = True

    def check(self):
        if self.is_cut:
            raise Ended

    def send_raw(self, data):
        while data:
            self.check()
            try:
                sent = self.connection.send(data[:32768])
                self.count(sent)
                data = data[sent:]
            except (BlockingIOError, ssl.SSLWantWriteError):
                select.select([self.wake_read], [self.connection], [])
            except ssl.SSLWantReadError:
                select.select([self.connection, self.wake_read], [], [])

    def send(self, channel, data):
        self.send_raw(frame(2, bytes([channel]) + data))

    def wait(self):
        """Messages of the client that have arrived; [] after a wake."""
        self.check()
        if not self.connection.pending():
            ready = select.select([self.connection, self.wake_read], [], [])[0]
            if self.wake_read in ready:
                os.read(self.wake_read, 1000)
                self.check()
                if self.connection not in ready:
                    return []
        try:
            data = self.connection.recv(65536)
        except (BlockingIOError, ssl.SSLWantReadError):
            return []
        if not data:
            raise Ended
        self.count(len(data))
        self.buffer += data
        return self.messages()

    def messages(self):
        found = []
        while len(self.buffer) >= 2:
            opcode, size, at = self.buffer[0] & 15, self.buffer[1] & 127, 2
            if size >= 126:
                width = 2 if size == 126 else 8
                size, at = int.from_bytes(self.buffer[2 : 2 + width], "big"), 2 + width
            if not self.buffer[1] & 128:
                raise ValueError("a client must mask its frames")
            if len(self.buffer) < at + 4 + size:
                break
            mask, data = self.buffer[at : at + 4], self.buffer[at + 4 : at + 4 + size]
            self.buffer = self.buffer[at + 4 + size :]
            key = (mask * (size // 4 + 1))[:size]
            data = (int.from_bytes(data, "big") ^ int.from_bytes(key, "big")).to_bytes(size, "big")
            if opcode == 8:
                raise Ended
            if opcode == 9:
                self.send_raw(frame(10, data))
            elif opcode == 2:
                found.append((data[0], data[1:]))
        return found

    def finish(self, code=0):
        status = {"metadata": {}, "status": "Success"}
        if code:
            status = {"metadata": {}, "status": "Failure", "reason": "NonZeroExitCode",
                      "message": f"command terminated with non-zero exit code: exit status {code}",
                      "details": {"causes": [{"reason": "ExitCode", "message": str(code)}]}}
        self.send(3, json.dumps(status).encode())
        self.send_raw(frame(8, struct.pack(">H", 1000)))


def cat(session, *_):
    while True:
        for channel, data in session.wait():
            if channel == 0:
                session.send(1, data)
            elif channel == 255 and data == b"\0":
                return session.finish()


def fragments(session, *_):
    session.send_raw(frame(2, b"\x01abc", last=False) + frame(9, b"ping") + frame(0, b"", last=False))
    session.send_raw(frame(0, b"def" * 20000))
    session.finish()


def errors(session, *_):
    session.send(2, b"something is wrong\n")
    session.finish(1)


def channel(session, state, name):
    peer = state.peer(name)
    number = peer.connect()
    try:
        while True:
            for stream, data in session.wait() or [(None, b"")]:
                if stream == 0:
                    out = peer.feed(number, data)
                elif stream == 255:
                    return session.finish()
                else:
                    out = peer.poll(number)
                while out:  # what acknowledgements let through comes with the next message
                    session.send(1, out[:30000])
                    out = out[30000:]
    except ValueError as why:
        session.send(2, str(why).encode())
        session.finish(1)


COMMANDS = {
    "cat": cat,
    "exit": lambda session, state, name, code: session.finish(int(code)),
    "errors": errors,
    "fragments": fragments,
    "channel": channel,
    "/hone-bin/hone-pod": lambda session, state, name, _: channel(session, state, name),
    "garbage": lambda session, *_: session.send_raw(b"\xff" * 20),
    "wrong_channel": lambda session, *_: session.send(0, b"x"),
    "no_status": lambda session, *_: session.send_raw(frame(8, struct.pack(">H", 1011) + b"internal")),
    "oversized": lambda session, *_: session.send_raw(b"\x82\x7f" + struct.pack(">Q", 1 << 40)),
    "bad_close": lambda session, *_: session.send_raw(frame(8, struct.pack(">H", 1006))),
}


def run_exec(handler, state, name):
    key = handler.headers.get("Sec-WebSocket-Key", "")
    if handler.headers.get("Upgrade", "").lower() != "websocket" or not key:
        return handler.refuse(400, "BadRequest", "Upgrade request required")
    if "v5.channel.k8s.io" not in handler.headers.get("Sec-WebSocket-Protocol", ""):
        return handler.refuse(403, "Forbidden", "unable to negotiate protocol")
    command = handler.query["command"]
    handler.close_connection = True
    accept = base64.b64encode(hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()).decode()
    with state.lock:
        session = ExecSession(handler.connection, state.exec_cut_after)
        state.exec_cut_after = None
        state.execs[id(session)] = session
    try:
        session.send_raw(("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                          f"Sec-WebSocket-Accept: {accept}\r\nSec-WebSocket-Protocol: v5.channel.k8s.io\r\n\r\n").encode())
        session.send(1, b"")  # the channel is up
        if state.runtime:
            carry(session, state.runtime.execute(state.pods[name], command))
        else:
            COMMANDS[command[0]](session, state, name, *command[1:])
    except (Ended, ConnectionError):
        pass
    finally:
        with state.lock:
            del state.execs[id(session)]
