# SPDX-License-Identifier: GPL-2.0-or-later
"""A light client of the API server: it shares the machine with what it measures.

Requests are bytes made beforehand, sent over connections that stay open; of an answer only the status is looked at. All
moments are taken here, from one watch stream of Pods, for every scheduler alike.
"""
import json
import re
import socket
import ssl
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

NAMESPACE = "bench"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
CONNECTIONS = 8
JSON = "application/json"


class Failed(Exception):
    """It could not be measured; the text says why."""


class Api:
    """Where the API server is, and who we are."""

    def __init__(self, env):
        url = urlsplit(env["SANDBOX_API"])
        self.host, self.port = url.hostname, url.port
        self.token = env["SANDBOX_TOKEN"]
        self.tls = ssl.create_default_context(cafile=env["SANDBOX_CA"])

    def request(self, method, path, body=None, content_type=JSON):
        """The bytes of a request; BODY is a value that becomes JSON."""
        data = b"" if body is None else json.dumps(body, separators=(",", ":")).encode()
        head = (f"{method} {path} HTTP/1.1\r\nHost: {self.host}\r\nAuthorization: Bearer {self.token}\r\n"
                f"Accept: {JSON}\r\nContent-Type: {content_type}\r\nContent-Length: {len(data)}\r\n\r\n")
        return head.encode() + data


class Connection:
    """One kept-alive connection; it belongs to one thread at a time."""

    def __init__(self, api):
        self.api = api
        self.socket = None

    def open(self):
        plain = socket.create_connection((self.api.host, self.api.port), timeout=60)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket = self.api.tls.wrap_socket(plain, server_hostname=self.api.host)

    def send(self, request):
        """Sends bytes and reads the whole answer: (status, body)."""
        if self.socket is None:
            self.open()
        self.socket.sendall(request)
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += self._more()
        head, body = answer.split(b"\r\n\r\n", 1)
        lines = head.lower().split(b"\r\n")
        length = next((int(line[15:]) for line in lines if line.startswith(b"content-length:")), None)
        if length is None:
            text, ended = b"", False
            while not ended:
                more, body, ended = take_chunks(body)
                text += more
                if not ended:
                    body += self._more()
            body = text
        else:
            while len(body) < length:
                body += self._more()
        return int(head[9:12]), body

    def _more(self):
        data = self.socket.recv(65536)
        if not data:
            raise ConnectionError("the API server closed the connection")
        return data

    def refresh(self):
        """Makes sure that the connection is alive: the API server closes idle ones."""
        try:
            self.send(self.api.request("GET", "/livez"))
        except OSError:
            self.socket = None
            self.send(self.api.request("GET", "/livez"))

    def call(self, method, path, body=None, expect=(200, 201, 202), content_type=JSON):
        """A request outside what is timed; the answer as a value. 404 and 409 are None unless expected."""
        self.refresh()
        status, data = self.send(self.api.request(method, path, body, content_type))
        if status in expect:
            return json.loads(data)
        if status in (404, 409):
            return None
        raise Failed(f"{method} {path}: HTTP {status}: {data[:300].decode(errors='replace')}")


def take_chunks(data):
    """The whole chunks at the head of DATA: (their text, what is left, was it the last one)."""
    text = []
    # A chunk: a hexadecimal size, a line end, that many bytes, a line end.
    while (at := data.find(b"\r\n")) >= 0:
        size = int(data[:at], 16)
        if len(data) < at + size + 4:
            break
        text.append(data[at + 2:at + 2 + size])
        data = data[at + size + 4:]
        if size == 0:
            return b"".join(text), data, True
    return b"".join(text), data, False


class Pod:
    """The moments of one Pod, in seconds of the monotonic clock; None until seen."""
    __slots__ = ("name", "request", "posted", "replied", "added", "bound", "running", "finished", "gone", "node", "phase",
                 "events", "condition")

    def __init__(self, name, request):
        self.name, self.request = name, request
        self.posted = self.replied = self.added = self.bound = None
        self.running = self.finished = self.gone = None
        self.node = self.phase = self.condition = None
        self.events = 0


class Goal:
    """All of some Pods have reached a moment."""

    def __init__(self, moment, names):
        self.moment, self.missing, self.reached = moment, set(names), threading.Event()


class Watch(threading.Thread):
    """The one watch stream of Pods."""

    def __init__(self, api):
        super().__init__(daemon=True)
        self.api = api
        self.pods = {}                                        # name -> Pod: those that we made
        self.alive = set()                                    # names of all Pods in the namespace
        self.goal = None
        self.error = None
        self.version = ""                                     # of the last event: where a new stream goes on
        self.cuts = 0
        self.start()

    def run(self):
        try:
            while True:
                self._stream()
                # The API server may end a stream at any time; the next one brings what was missed, a little late.
                self.cuts += 1
        except Exception as error:                            # told to whoever waits
            self.error = error
        if self.goal:
            self.goal.reached.set()

    def _stream(self):
        connection = Connection(self.api)
        connection.open()
        sock = connection.socket
        sock.settimeout(None)
        sock.sendall(self.api.request("GET", f"{PODS}?watch=true&timeoutSeconds=86400&resourceVersion={self.version}"))
        data, text = b"", bytearray()
        while b"\r\n\r\n" not in data:
            if not (more := sock.recv(65536)):
                raise Failed("no answer")
            data += more
        head, data = data.split(b"\r\n\r\n", 1)
        if b" 200 " not in head[:15]:
            raise Failed(head[:60].decode())
        while True:
            now = time.monotonic()
            more, data, ended = take_chunks(data)
            text += more
            if (end := text.rfind(b"\n")) >= 0:
                for line in bytes(text[:end]).split(b"\n"):
                    self._event(json.loads(line), now)
                del text[:end + 1]
            if ended or not (more := sock.recv(262144)):
                return
            data += more

    def _event(self, event, now):
        kind, pod = event["type"], event["object"]
        if kind == "ERROR":
            raise Failed(pod.get("message", "ERROR"))
        name, self.version = pod["metadata"]["name"], pod["metadata"]["resourceVersion"]
        if kind == "DELETED":
            self.alive.discard(name)
        else:
            self.alive.add(name)
        seen = self.pods.get(name)
        if seen is None:
            return
        seen.events += 1
        status = pod.get("status", {})
        seen.phase = status.get("phase")
        if seen.added is None:
            seen.added = now
        if seen.bound is None and pod["spec"].get("nodeName"):
            seen.bound, seen.node = now, pod["spec"]["nodeName"]
            self._reached("bound", name)
        if seen.running is None and seen.phase == "Running":
            seen.running = now
            self._reached("running", name)
        if seen.finished is None and seen.phase in ("Succeeded", "Failed"):
            seen.finished = now
            self._reached("finished", name)
        if seen.bound is None and any(c["type"] == "PodScheduled" and c["status"] == "False"
                                      for c in status.get("conditions", ())):
            seen.condition = seen.condition or now
            self._reached("condition", name)
        if kind == "DELETED":
            seen.gone = now
            self._reached("gone", name)

    def _reached(self, moment, name):
        goal = self.goal
        if goal and goal.moment == moment:
            goal.missing.discard(name)
            if not goal.missing:
                goal.reached.set()

    def expect(self, moment, pods):
        """Sets what wait() waits for; called before the Pods are made, so that no event is missed."""
        self.goal = Goal(moment, [pod.name for pod in pods if getattr(pod, moment) is None])
        for pod in pods:                                      # what came in between
            if getattr(pod, moment) is not None:
                self._reached(moment, pod.name)
        if not self.goal.missing:
            self.goal.reached.set()

    def wait(self, seconds):
        """Until the goal is reached."""
        goal = self.goal
        reached = goal.reached.wait(seconds)
        if self.error:
            raise Failed(f"the watch of Pods broke: {self.error}")
        if not reached:
            missing = sorted(goal.missing)
            raise Failed(f"{len(missing)} Pods not {goal.moment} after {seconds:g} s, such as {missing[0]}")


class Client:
    """Makes, watches and deletes Pods."""

    def __init__(self, env):
        self.api = Api(env)
        self.connections = [Connection(self.api) for _ in range(CONNECTIONS)]
        self.first = self.connections[0]
        self._make_namespace()
        self.watch = Watch(self.api)

    def _make_namespace(self):
        self.first.call("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
        deadline = time.monotonic() + 30
        # Without its ServiceAccount no Pod can be made in a namespace.
        while self.first.call("GET", f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/default") is None:
            if time.monotonic() > deadline:
                raise Failed(f"namespace {NAMESPACE} has no default ServiceAccount after 30 s")
            time.sleep(0.1)

    def pod(self, name, scheduler, cpus=1, run=None, partition=None, spec=(), labels=(), annotations=()):
        """A Pod that is not made yet. Pods for different schedulers differ in schedulerName only. SPEC is merged into its spec."""
        said = {"sandbox/run": run, "slurmjob.slinky.slurm.net/partition": partition, **dict(annotations)}
        body = {"apiVersion": "v1", "kind": "Pod",
                "metadata": {"name": name, "labels": dict(labels),
                             "annotations": {key: value for key, value in said.items() if value}},
                "spec": {"schedulerName": scheduler, "restartPolicy": "Never", "automountServiceAccountToken": False,
                         "terminationGracePeriodSeconds": 1,
                         "containers": [{"name": "main", "image": "bench",
                                         "resources": {"requests": {"cpu": str(cpus), "memory": "64Mi"}}}], **dict(spec)}}
        return Pod(name, self.api.request("POST", PODS, body))

    def refresh(self):
        for connection in self.connections:
            connection.refresh()

    def create(self, connection, pod):
        """Makes one Pod; its time starts as the request is sent."""
        self.watch.pods[pod.name] = pod
        pod.posted = time.monotonic()
        status, body = connection.send(pod.request)
        pod.replied = time.monotonic()
        if status != 201:
            raise Failed(f"create Pod {pod.name}: HTTP {status}: {body[:300].decode(errors='replace')}")

    def create_all(self, pods):
        """Makes Pods as fast as all connections can."""
        todo, errors = iter(pods), []
        lock = threading.Lock()

        def work(connection):
            try:
                while True:
                    with lock:
                        pod = next(todo, None)
                    if pod is None:
                        return
                    self.create(connection, pod)
            except Exception as error:
                errors.append(error)

        threads = [threading.Thread(target=work, args=(connection,)) for connection in self.connections]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if errors:
            raise Failed(str(errors[0]))

    def call_all(self, calls):
        """Each connection has its share of (method, path, body)."""
        def share(i):
            for call in calls[i::len(self.connections)]:
                self.connections[i].call(*call)

        with ThreadPoolExecutor(len(self.connections)) as pool:
            list(pool.map(share, range(len(self.connections))))

    def requests(self):
        """What the API server has counted since its start: requests by verb and resource, watches aside."""
        status, text = self.first.send(self.api.request("GET", "/metrics"))
        if status != 200:
            raise Failed(f"GET /metrics: HTTP {status}")
        counts = {}
        for labels, value in re.findall(r"^apiserver_request_total\{(.*)\} (\S+)$", text.decode(), re.M):
            labels = dict(re.findall(r'(\w+)="([^"]*)"', labels))
            if labels["resource"] and labels["verb"] != "WATCH":
                name = "/".join(filter(None, (labels["resource"], labels["subresource"])))
                counts[f"{labels['verb']} {name}"] = counts.get(f"{labels['verb']} {name}", 0) + int(float(value))
        return counts

    def delete(self, pod):
        self.first.send(self.api.request("DELETE", f"{PODS}/{pod.name}"))

    def delete_all(self, seconds=60):
        """Deletes all Pods of the namespace and waits until they are gone. By force only those whose end no kubelet confirms: nodes of
        Pods that are deleted by force count as in use for a while, which would hold up the next run."""
        deadline = time.monotonic() + seconds
        grace = 1
        while True:
            self.first.call("DELETE", f"{PODS}?gracePeriodSeconds={grace}")
            grace = 0
            patience = time.monotonic() + 10
            while time.monotonic() < patience:
                if not self.watch.alive:
                    self.watch.pods.clear()
                    return
                if self.watch.error:
                    raise Failed(f"the watch of Pods broke: {self.watch.error}")
                time.sleep(0.02)
            if time.monotonic() > deadline:
                raise Failed(f"{len(self.watch.alive)} Pods are not gone after {seconds} s")
