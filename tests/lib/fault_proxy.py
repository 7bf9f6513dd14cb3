# SPDX-License-Identifier: GPL-2.0-or-later
"""An HTTPS proxy between slurmk8sd and the API server that does harm when a
test says so: it refuses, delays, forgets, lies and cuts, and writes down each
request and what really became of it.

A test gives it a list of faults; the first one that fits a request has it, and
what none of them wants is passed on. A fault may be limited to some requests
(when) and to the first few of them (times).
"""
import collections
import contextlib
import http.client
import json
import select
import socket
import ssl
import threading
import time
import urllib.parse

# answered: the status that the agent got; done: the one that the API server
# gave. None: there was none. warnings: its Warning headers, of an unknown field
# or a deprecated API.
Entry = collections.namedtuple(
    "Entry", "at method path answered done fault warnings")


class Request:
    def __init__(self, method, path, headers, body):
        self.method, self.path = method, path
        self.headers, self.body = headers, body
        self.resource = path.partition("?")[0]
        self.query = dict(urllib.parse.parse_qsl(path.partition("?")[2]))
        self.watches = self.query.get("watch") == "true"
        # A streaming list: its items come as events.
        self.lists = "sendInitialEvents" in self.query or "limit" in self.query
        self.writes = method != "GET"


# ---- which requests


def anything(request):
    return True


def writes(request):
    return request.writes


def watches(request):
    return request.watches


def bindings(request):
    return request.resource.endswith("/binding")


def lists_of(kind):
    """Lists of that kind (pods, nodes, namespaces)."""
    return lambda r: r.lists and r.resource == f"/api/v1/{kind}"


# ---- what may go wrong


class Fault:
    def __init__(self, name, harm, when=anything, times=None):
        self.name, self.harm, self.when, self.left = name, harm, when, times
        self.hits = 0

    def wants(self, request):
        return self.left != 0 and self.when(request)


def status_body(code, reason=""):
    return {"kind": "Status", "apiVersion": "v1", "status": "Failure",
            "code": code, "reason": reason, "message": f"fault proxy: {code}"}


def answer(code, headers=None, **limits):
    """This status instead of asking the server."""
    return Fault(f"answer {code}", lambda exchange: exchange.answer(
        code, status_body(code), headers), **limits)


def answer_after(code, **limits):
    """The server does it, the agent is told this status."""
    def harm(exchange):
        exchange.ask()
        exchange.answer(code, status_body(code))
    return Fault(f"{code} after it was done", harm, **limits)


def cut_after(**limits):
    """The server does it, the agent hears nothing: its connection is cut."""
    def harm(exchange):
        exchange.ask()
        exchange.cut()
    return Fault("cut after it was done", harm, **limits)


def slow(seconds, **limits):
    def harm(exchange):
        time.sleep(seconds)  # the fault itself
        exchange.pass_on()
    return Fault(f"{seconds} s slow", harm, **limits)


def drip(size, seconds, **limits):
    """Every answer comes in pieces of that many bytes, with pauses."""
    return Fault("slow drip", lambda exchange: exchange.pass_on(
        piece=size, pause=seconds), **limits)


def truncated(honest, **limits):
    """Half of the answer: with a length that fits (honest), or as a connection
    that breaks."""
    def harm(exchange):
        status, body = exchange.ask()
        half = body[:len(body) // 2]
        exchange.send_reply(status, half, length=None if honest else len(body))
        if not honest:
            exchange.cut()
    return Fault("truncated", harm, **limits)


def edited(edit, name="edited stream", **limits):
    """Each event of a stream as edit(event) makes it; None drops it."""
    return Fault(name, lambda exchange: exchange.pass_on(edit=edit), **limits)


def empty_lists(kind, **limits):
    """Streaming lists that have no item."""
    def edit(event):
        return event if event["type"] == "BOOKMARK" else None
    return edited(edit, f"empty list of {kind}", when=lists_of(kind), **limits)


# ---- the proxy


class Exchange:
    """One request, and what a fault may do with it."""

    def __init__(self, proxy, connection, request):
        self.proxy, self.connection = proxy, connection
        self.request = request
        self.fault = None
        self.answered = self.done = None
        self.warnings = []
        self.noted = False

    def ask(self):
        """Sends it to the API server: status and body."""
        upstream = self.proxy.connect()
        try:
            upstream.request(self.request.method, self.request.path,
                             self.request.body or None, self._headers())
            reply = upstream.getresponse()
            body = reply.read()
        finally:
            upstream.close()
        self._heard(reply)
        return reply.status, body

    def _heard(self, reply):
        self.done = reply.status
        self.warnings = reply.headers.get_all("Warning") or []

    def answer(self, status, body, headers=None):
        self.send_reply(status, json.dumps(body).encode(), headers)

    def send_reply(self, status, body, headers=None, length=None, piece=None,
                   pause=0):
        self.answered = status
        head = {"Content-Type": "application/json", **(headers or {}),
                "Content-Length": len(body) if length is None else length}
        lines = [f"HTTP/1.1 {status} X", *(f"{k}: {v}" for k, v in head.items())]
        data = ("\r\n".join(lines) + "\r\n\r\n").encode() + body
        self.connection.send(data, piece, pause)

    def cut(self):
        self.connection.close()

    def pass_on(self, edit=None, piece=None, pause=0):
        if self.request.watches:
            self._stream(edit, piece, pause)
        else:
            status, body = self.ask()
            self.send_reply(status, body, piece=piece, pause=pause)

    def _headers(self):
        drop = ("host", "connection", "content-length")
        return {name: value for name, value in self.request.headers.items()
                if name.lower() not in drop}

    def _stream(self, edit, piece, pause):
        upstream = self.proxy.connect(timeout=None)
        try:
            upstream.request("GET", self.request.path, None, self._headers())
            reply = upstream.getresponse()
            self._heard(reply)
            if reply.status != 200:
                self.send_reply(reply.status, reply.read())
                return
            self.answered = 200
            stream = Stream(self.connection, upstream, piece, pause)
            self.proxy.note(self)
            with self.proxy.open_stream(stream):
                stream.relay(reply, edit)
        finally:
            upstream.close()


class Stream:
    """A watch under way."""

    def __init__(self, connection, upstream, piece, pause):
        self.connection, self.upstream = connection, upstream
        self.piece, self.pause = piece, pause
        self.lock = threading.Lock()
        connection.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                        b"Transfer-Encoding: chunked\r\n\r\n")

    def relay(self, reply, edit):
        for line in iter(reply.readline, b""):
            if edit:
                event = edit(json.loads(line))
                if event is None:
                    continue
                line = json.dumps(event).encode() + b"\n"
            self.say(line)
        with self.lock:
            self.connection.send(b"0\r\n\r\n")

    def say(self, text):
        with self.lock:
            self.connection.send(b"%x\r\n%s\r\n" % (len(text), text),
                                 self.piece, self.pause)

    def try_to_say(self, text):
        try:
            if text:
                self.say(text)
        except OSError:
            pass  # it went away meanwhile

    def alive(self):
        """A client says nothing during a watch, but that it goes."""
        poll = select.poll()
        poll.register(self.connection.sock, select.POLLIN | select.POLLRDHUP)
        return not self.connection.closed and not poll.poll(0)

    def end(self):
        self.connection.close()
        sock = self.upstream.sock
        if sock:  # None: its thread has closed it
            shut(sock)


def shut(sock):
    """Wakes whoever waits on it. Not SSLSocket's own method, which would take
    the encryption away under a thread that still writes."""
    try:
        socket.socket.shutdown(sock, socket.SHUT_RDWR)
    except OSError:
        pass  # it is closed already


class Connection:
    """One of the agent's. Another thread may close it at any time."""

    def __init__(self, proxy, sock):
        self.proxy = proxy
        self.sock = proxy.tls.wrap_socket(sock, server_side=True,
                                          do_handshake_on_connect=False)
        self.closed = False

    def serve(self):
        try:
            self.proxy.gate.wait()
            self.sock.do_handshake()
            reader = self.sock.makefile("rb")
            while request := self._read(reader):
                self.proxy.serve(Exchange(self.proxy, self, request))
        except (OSError, ValueError, http.client.HTTPException):
            pass  # it went away, or somebody cut it
        finally:
            self.sock.close()
            self.proxy.forget(self)

    def _read(self, reader):
        line = reader.readline().split()
        if len(line) != 3:
            return None
        headers = http.client.parse_headers(reader)
        body = reader.read(int(headers.get("Content-Length", 0)))
        self._wait()
        return Request(line[0].decode(), line[1].decode(), headers, body)

    def _wait(self):
        self.proxy.gate.wait()
        if self.closed:
            raise OSError("closed")

    def send(self, data, piece=None, pause=0):
        step = piece or len(data)
        for start in range(0, len(data), step):
            self._wait()
            self.sock.sendall(data[start:start + step])
            if pause:
                time.sleep(pause)

    def close(self):
        self.closed = True
        shut(self.sock)


class FaultProxy:
    """Serves on 127.0.0.1:port from start() until stop(). certificate and key
    are PEM files that the agent's KubeCaFile vouches for."""

    def __init__(self, port, api_server, ca, certificate, key):
        self.port = port
        self._server = urllib.parse.urlsplit(api_server)
        self._trust = ssl.create_default_context(cafile=ca)
        self.tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self.tls.load_cert_chain(certificate, key)
        self._lock = threading.RLock()
        self._faults, self._entries = [], []
        self._connections, self._streams = set(), set()
        self._listener = None
        self._reset = False
        self.attempts = 0             # connections, also those that were reset
        self.gate = threading.Event()  # cleared: nothing comes through

    url = property(lambda self: f"https://127.0.0.1:{self.port}")

    # -- harm

    def set(self, *faults):
        """From now on these, instead of those before."""
        with self._lock:
            self._faults = list(faults)

    def clear(self):
        self.set()

    def say(self, event):
        """An event into every watch that is open."""
        for stream in self._living():
            stream.try_to_say(json.dumps(event).encode() + b"\n")

    def cut_streams(self, before=b""):
        """Cuts every watch that is open, after these bytes."""
        for stream in self._living():
            stream.try_to_say(before)
            stream.end()

    def refuse(self):
        """Nobody listens any more; what is open is reset."""
        self._stop_listening()
        self._close_all()

    def reset(self):
        """Each connection is reset at once; open ones, too. Unlike refuse(),
        this can be counted."""
        self._reset = True
        self._close_all()

    def swallow(self):
        """A black hole: what is sent gets lost, nothing comes back."""
        self.gate.clear()

    def serve_again(self):
        """The end of refuse(), reset() and swallow()."""
        if not self.gate.is_set():
            self._close_all()  # as the other side's reset, when it is back
        self._reset = False
        self.gate.set()
        if not self._listener:
            self._listen()

    # -- looking

    def entries(self, since=0.0):
        with self._lock:
            return [e for e in self._entries if e.at >= since]

    def streams(self):
        """How many watches are open."""
        return len(self._living())

    def _living(self):
        with self._lock:
            return [stream for stream in self._streams if stream.alive()]

    # -- life

    def start(self):
        self.gate.set()
        self._listen()

    def stop(self):
        self.refuse()
        self.gate.set()

    def connect(self, timeout=60):
        return http.client.HTTPSConnection(
            self._server.hostname, self._server.port, context=self._trust,
            timeout=timeout)

    def serve(self, exchange):
        with self._lock:
            fault = next((f for f in self._faults
                          if f.wants(exchange.request)), None)
            if fault:
                fault.hits += 1
                fault.left = fault.left and fault.left - 1
                exchange.fault = fault.name
        try:
            if fault:
                fault.harm(exchange)
            else:
                exchange.pass_on()
        except OSError:
            exchange.cut()  # the API server is away, or the agent
            raise
        finally:
            self.note(exchange)

    def note(self, exchange):
        request = exchange.request
        with self._lock:
            if not exchange.noted:
                self._entries.append(Entry(
                    time.monotonic(), request.method, request.path,
                    exchange.answered, exchange.done, exchange.fault,
                    exchange.warnings))
            exchange.noted = True

    @contextlib.contextmanager
    def open_stream(self, stream):
        with self._lock:
            self._streams.add(stream)
        try:
            yield
        finally:
            with self._lock:
                self._streams.discard(stream)

    def forget(self, connection):
        with self._lock:
            self._connections.discard(connection)

    def _listen(self):
        self._listener = socket.create_server(("127.0.0.1", self.port),
                                              backlog=64)
        threading.Thread(target=self._accept, args=(self._listener,),
                         daemon=True).start()

    def _stop_listening(self):
        listener, self._listener = self._listener, None
        if listener:
            listener.shutdown(socket.SHUT_RDWR)  # wakes accept()
            listener.close()

    def _accept(self, listener):
        while True:
            try:
                sock, _ = listener.accept()
            except OSError:
                return
            self.attempts += 1
            if self._reset:
                sock.close()
                continue
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection = Connection(self, sock)
            with self._lock:
                self._connections.add(connection)
            threading.Thread(target=connection.serve, daemon=True).start()

    def _close_all(self):
        with self._lock:
            connections, streams = list(self._connections), list(self._streams)
        for stream in streams:
            stream.end()
        for connection in connections:
            connection.close()

