# SPDX-License-Identifier: GPL-2.0-or-later
"""The sandbox as the integration tests see it: the API server over HTTPS, the
commands of Slurm, and the daemons. The environment is that which
`contribs/sandbox/env` prints; tests/run sets it.
"""
import collections
import http.client
import json
import os
import pathlib
import re
import ssl
import subprocess
import threading
import time
import urllib.parse

from tap import PATIENCE, Skip, check, equal, last_case, wait_for

TOP = pathlib.Path(__file__).resolve().parents[2]
SANDBOX = pathlib.Path(os.environ["SANDBOX"])
NAMESPACE = "test"

JOB_LABEL = "scheduler.slinky.slurm.net/slurm-jobid"
NODE_ANNOTATION = "slinky.slurm.net/slurm-node"
SLUID_ANNOTATION = "slurmk8s/sluid"
GENERATION_ANNOTATION = "slurmk8s/generation"
PARTITION = "slurmjob.slinky.slurm.net/partition"
TIMELIMIT = "slurmjob.slinky.slurm.net/timelimit"


class ApiError(Exception):
    def __init__(self, status, body):
        super().__init__(f"{status}: {body.get('message', body)}")
        self.status = status
        self.message = body.get("message", "")


_server = urllib.parse.urlsplit(os.environ["SANDBOX_API"])
_tls = ssl.create_default_context(cafile=os.environ["SANDBOX_CA"])
_mine = threading.local()  # a connection, and the server that it is to


def talk_to(server):
    """From now on api() asks this API server, which has the same tokens and the
    same authority."""
    global _server
    _server = urllib.parse.urlsplit(server)


def _connection():
    """That of this thread."""
    if getattr(_mine, "server", None) != _server or _mine.connection is None:
        _mine.server = _server
        _mine.connection = http.client.HTTPSConnection(
            _server.hostname, _server.port, context=_tls, timeout=120)
    return _mine.connection


def api(method, path, body=None, content_type="application/json", token=None):
    """One request to the API server, as administrator unless told otherwise. What
    does no harm when it is done twice is tried again when the server is too
    busy to answer."""
    again = time.monotonic() + 20 * PATIENCE
    while True:
        try:
            return _request(method, path, body, content_type, token)
        except (ApiError, http.client.HTTPException, OSError) as error:
            busy = error.status in (429, 503, 504) \
                if isinstance(error, ApiError) \
                else not isinstance(error, ConnectionRefusedError)
            if method in ("POST", "PUT") or not busy or \
                    time.monotonic() > again:
                raise
        time.sleep(0.5)


def _request(method, path, body, content_type, token):
    headers = {
        "Authorization": "Bearer " + (token or os.environ["SANDBOX_TOKEN"]),
        "Content-Type": content_type,
    }
    # Compact, as client-go has it: parameters of a claim are kept as they were
    # sent, and one with blanks could not be written again.
    data = json.dumps(body, separators=(",", ":")) if body is not None else None
    for attempt in (1, 2):  # the server may have closed an idle connection
        connection = _connection()
        try:
            connection.request(method, path, data, headers)
            reply = connection.getresponse()
            text = reply.read()
            break
        except (http.client.HTTPException, OSError) as error:
            _mine.connection = None
            # What was not answered in time may have been done all the same.
            if attempt == 2 or isinstance(error, TimeoutError):
                raise
    answer = json.loads(text) if text else {}
    if reply.status >= 300:
        raise ApiError(reply.status, answer)
    return answer


def run(*command, check=True, user=None, stdin=None, timeout=300):
    """A command from the host; its output. The commands of Slurm among them
    run inside the sandbox, as user if one is given."""
    env = dict(os.environ)
    if user:
        env["SANDBOX_USER"] = user
    done = subprocess.run(command, env=env, input=stdin, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=timeout)
    if check and done.returncode != 0:
        raise AssertionError(f"{' '.join(command)}: {done.stdout}")
    return done.stdout


def ctl(*words):
    return run(str(TOP / "contribs/sandbox/ctl"), *words)


def inside(*command, **options):
    return run(str(TOP / "contribs/sandbox/exec"), *command, **options)


# ---- Pods


def pod(name, cpu="1", memory="64Mi", annotations=None, scheduler="slurm",
        command=None, real=False, namespace=NAMESPACE, **spec):
    """The body of a Pod of one container; spec is merged into its spec."""
    annotations = dict(annotations or {})
    annotations.setdefault(PARTITION, "real" if real else "kwok")
    container = {"name": "main", "image": "busybox:stable",
                 "resources": {"requests": {}}}
    for kind, amount in (("cpu", cpu), ("memory", memory)):
        if amount is not None:
            container["resources"]["requests"][kind] = amount
    if command:
        container["command"] = ["sh", "-c", command]
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": namespace,
                         "annotations": annotations},
            "spec": {"schedulerName": scheduler, "restartPolicy": "Never",
                     "terminationGracePeriodSeconds": 2,
                     "containers": [container], **spec}}


_uids = {}  # of the last Pod that was made under a name


def create(body, **options):
    made = api("POST", f"/api/v1/namespaces/{body['metadata']['namespace']}"
               "/pods", body, **options)
    remember(made)
    return made


def remember(made):
    """The Pod is the one of its name that job_of() and the like ask for."""
    _uids[made["metadata"]["name"]] = made["metadata"]["uid"]


def get(name, namespace=NAMESPACE):
    """The Pod, or None."""
    try:
        return api("GET", f"/api/v1/namespaces/{namespace}/pods/{name}")
    except ApiError as error:
        if error.status == 404:
            return None
        raise


def node_of(name):
    """The Node that the Pod is bound to, or None."""
    return (get(name) or {}).get("spec", {}).get("nodeName")


def land(name, seconds=40):
    """The Node, once the Pod has one."""
    return wait_for(f"Pod {name} to have a node", lambda: node_of(name),
                    seconds)


def delete(name, namespace=NAMESPACE, grace=None):
    """grace: seconds, or None for the Pod's own."""
    options = {} if grace is None else {"gracePeriodSeconds": grace}
    try:
        api("DELETE", f"/api/v1/namespaces/{namespace}/pods/{name}", options)
    except ApiError as error:
        if error.status != 404:
            raise


def pods(namespace=NAMESPACE):
    return api("GET", f"/api/v1/namespaces/{namespace}/pods")["items"]


def events_of(uid, namespace=NAMESPACE):
    items = api("GET", f"/apis/events.k8s.io/v1/namespaces/{namespace}/events")
    return [e for e in items["items"] if e.get("regarding", {}).get("uid") == uid]


def wait_event(uid, reason, words="", seconds=20):
    """Those with that reason and those words. The agent writes Events in its own
    time: what it does first may be seen before them."""
    return wait_for(f"an Event {reason} {words}", lambda: [
        e for e in events_of(uid) if e["reason"] == reason and words in e["note"]],
        seconds)


def condition(name, namespace=NAMESPACE):
    """The Pod's PodScheduled condition, or {}."""
    found = get(name, namespace) or {}
    for item in found.get("status", {}).get("conditions", []):
        if item["type"] == "PodScheduled":
            return item
    return {}


def phase_is(name, phase):
    found = get(name)
    return found if found and found["status"].get("phase") == phase else None


def wait_phase(name, phase, seconds=30):
    return wait_for(f"Pod {name} to be {phase}",
                    lambda: phase_is(name, phase), seconds)


def wait_gone(name, seconds=30):
    wait_for(f"Pod {name} to be gone", lambda: get(name) is None, seconds)


def play(name, namespace=NAMESPACE, **how):
    """How a Pod lives on a kwok node from now on: play("web", run="1ms",
    exit="3") ends it, play("web", stop="1ms") what is slow to stop."""
    api("PATCH", f"/api/v1/namespaces/{namespace}/pods/{name}",
        {"metadata": {"annotations": {f"sandbox/{key}": value
                                      for key, value in how.items()}}},
        "application/merge-patch+json")


def end(*names):
    """The containers of these Pods end by themselves now."""
    for name in names:
        play(name, run="1ms")


def wait_words(name, *words, seconds=20):
    """Until the Pod's condition says all of these words."""
    def said():
        message = condition(name).get("message", "")
        return all(word in message for word in words) and message
    return wait_for(f"Pod {name} to say {words}", said, seconds)


# ---- Jobs


def jobs():
    """Every job that slurmctld knows, by id: scontrol's own JSON."""
    listing = json.loads(run("scontrol", "show", "jobs", "--json"))
    return {job["job_id"]: job for job in listing["jobs"]}


def jobs_of(name):
    """All jobs of the Pod that was made last under this name."""
    mark = f'"uid":"{_uids.get(name)}"'
    return [job for job in jobs().values()
            if mark in job.get("admin_comment", "")]


def jobs_by_pod():
    """The states of all jobs of the Pods made last under their names: one
    question for many Pods. Names of Pods without a job have an empty list."""
    names = {uid: name for name, uid in _uids.items()}
    states = collections.defaultdict(list)
    for job in jobs().values():
        for uid in re.findall('"uid":"([^"]*)"', job.get("admin_comment", "")):
            if uid in names:
                states[names[uid]].append(job["job_state"])
    return states


def job_of(name):
    """The newest of them, or None."""
    return max(jobs_of(name), key=lambda job: job["job_id"], default=None)


def state_of(job):
    return job["job_state"] if job else []


def wait_job(name, state, seconds=30):
    """Until the Pod's job is in that state; returns the job."""
    def there():
        job = job_of(name)
        return job if job and state in state_of(job) else None
    return wait_for(f"the job of Pod {name} to be {state}", there, seconds)


def exit_of(job):
    """The exit code as sacct prints it: CODE:SIGNAL."""
    code = job["exit_code"]
    number = lambda field: (field or {}).get("number") or 0
    return (f"{number(code.get('return_code'))}:"
            f"{number(code.get('signal', {}).get('id'))}")


def wait_ended_or_completing(name, state, seconds=30):
    """As wait_ended, where nobody can let the epilog go."""
    return wait_job(name, state, seconds)


def wait_ended(name, state, code=None, seconds=30):
    job = wait_job(name, state, seconds)
    if code is not None:
        equal(exit_of(job), code, f"exit code of job {job['job_id']}")
    wait_for(f"job {job['job_id']} to leave COMPLETING",
             lambda: "COMPLETING" not in state_of(job_of(name)))
    return job


# ---- The agent


def status():
    """What the agent says of itself."""
    return json.loads(inside("curl", "-sf", "--max-time", "5",
                             f"http://{web_address()}/status"))


def serves():
    """Whether the agent answers and says that it serves."""
    try:
        return status()["serving"]
    except AssertionError:  # curl has had no answer
        return False


def web_address():
    conf = inside("cat", "/etc/slurm/k8s.conf")
    return [line.split("=", 1)[1] for line in conf.splitlines()
            if line.startswith("WebAddress=")][-1]


def metric(name):
    """The sum of the agent's metrics whose name and labels begin so; None without
    an agent that answers."""
    text = inside("curl", "-sf", "--max-time", "5",
                  f"http://{web_address()}/metrics", check=False)
    values = [int(line.split()[-1]) for line in text.splitlines()
              if line.startswith(f"slurmk8sd_{name}")]
    return sum(values) if text else None


def log(name, lines=40):
    path = SANDBOX / "log" / f"{name}.log"
    return "".join(path.read_text(errors="replace").splitlines(True)[-lines:])


def log_size(name):
    return (SANDBOX / "log" / f"{name}.log").stat().st_size


def log_since(name, size):
    with open(SANDBOX / "log" / f"{name}.log", errors="replace") as file:
        file.seek(size)
        return file.read()


# ---- Between cases


def clean(seconds=60):
    """No Pod, no claim, no job: every case begins with an empty sandbox."""
    try:
        api("POST", "/api/v1/namespaces",
            {"metadata": {"name": NAMESPACE}})
    except ApiError as error:
        if error.status != 409:
            raise
    wait_for("the namespace's ServiceAccount", service_account)
    set_partitions_up()
    delete_workloads()
    asked = set()
    wait_for("all Pods to be gone", lambda: delete_pods(asked), seconds)
    delete_claims()
    wait_for("all jobs to end", no_job_left, seconds)
    forget_vanished()


def no_job_left():
    """Whether all jobs have ended. Those that stand for no Pod are cancelled again:
    a slurmctld that is killed right after a scancel has forgotten it."""
    if not run("squeue", "-h").strip():
        return True
    for job in jobs().values():
        active = {"PENDING", "RUNNING", "SUSPENDED"} & set(job["job_state"])
        if active and not job.get("admin_comment"):
            run("scancel", str(job["job_id"]), check=False)
    return False


def forget_vanished():
    """The nodes of Pods that an earlier case deleted by force would count as in use
    for minutes. An agent that is started anew does not know of them."""
    if metric("pods_vanished"):
        ctl("kill", "slurmk8sd")
        ctl("start", "slurmk8sd")


def set_partitions_up():
    """slurmctld that is killed may forget that a test had set one up again."""
    shown = run("sinfo", "--all", "--noheader", "--format=%R %a")
    for name, state in {tuple(line.split()) for line in shown.splitlines()}:
        if state != "up":
            run("scontrol", "update", f"PartitionName={name}", "State=UP")


def delete_workloads():
    """Their controllers would make their Pods again."""
    for kind in ("batch/v1/namespaces/{}/jobs", "apps/v1/namespaces/{}/deployments",
                 "apps/v1/namespaces/{}/statefulsets"):
        path = "/apis/" + kind.format(NAMESPACE)
        for item in api("GET", path)["items"]:
            try:
                api("DELETE", f"{path}/{item['metadata']['name']}",
                    {"propagationPolicy": "Background"})
            except ApiError as error:
                if error.status != 404:
                    raise


def delete_claims():
    """Those of Pods go by themselves once these are gone."""
    path = f"/apis/resource.k8s.io/v1/namespaces/{NAMESPACE}/"
    for kind in ("resourceclaimtemplates", "resourceclaims"):
        for item in api("GET", path + kind)["items"]:
            try:
                api("DELETE", f"{path}{kind}/{item['metadata']['name']}", {})
            except ApiError as error:
                if error.status != 404:
                    raise
    wait_for("all claims to be gone",
             lambda: not api("GET", path + "resourceclaims")["items"])


def delete_pods(asked):
    """Deletes each Pod once, also those that a controller has made since; asked:
    the uids of those before. Returns whether there is none."""
    there = pods()
    nodes = {n["metadata"]["name"] for n in api("GET", "/api/v1/nodes")["items"]
             } if there else set()
    for item in there:
        if item["metadata"]["uid"] in asked:
            continue
        asked.add(item["metadata"]["uid"])
        # Nobody confirms the end of a Pod whose Node is gone, but Pod garbage
        # collection, after a minute.
        node = item["spec"].get("nodeName")
        delete(item["metadata"]["name"], grace=0 if node and node not in nodes
               else 1)
    return not there


def service_account(namespace=NAMESPACE):
    try:
        return api("GET", f"/api/v1/namespaces/{namespace}/serviceaccounts/"
                   "default")
    except ApiError as error:
        if error.status == 404:
            return None
        raise


def nothing_left():
    """What must hold after each case, whatever it did. What must hold in the
    end, of everything, is in tests/invariants."""
    for node in json.loads(run("scontrol", "show", "nodes", "--json"))["nodes"]:
        name = node["name"]
        if node["alloc_cpus"]:  # perhaps to a Pod that is being bound
            wait_for(f"node {name} to be free, or to have a Pod",
                     lambda name=name: lives_on(name) or not allocated_cpus(name))


def lives_on(slurm_node):
    return any(
        p["metadata"].get("annotations", {}).get(NODE_ANNOTATION) == slurm_node
        and p["status"].get("phase") not in ("Succeeded", "Failed")
        for p in pods())


_leaves = ""  # why a script leaves what the checker would report


def leaves_violations(why):
    """For a script that cannot clean up what it did: the words are shown."""
    global _leaves
    _leaves = why


@last_case
def invariants_hold():
    """invariants hold"""
    if _leaves:
        raise Skip(_leaves)
    import invariants  # it uses this module
    wrong = invariants.settled(
        PATIENCE * invariants.grace_of(invariants.worlds.k8s_conf()))
    check(not wrong, "\n".join(map(str, wrong)))


def allocated_cpus(name):
    """Of a node that may be gone: 0 then."""
    shown = json.loads(run("scontrol", "show", "nodes", "--json"))
    return sum(node["alloc_cpus"] for node in shown["nodes"]
               if node["name"] == name)


def _pod_words():
    """What waits, or lives, and what is said of it."""
    for pod in pods():
        meta, status = pod["metadata"], pod.get("status", {})
        said = [c.get("message", "") for c in status.get("conditions", [])
                if c["type"] == "PodScheduled" and c["status"] != "True"]
        yield " ".join([meta["name"], status.get("phase", ""),
                        pod["spec"].get("nodeName", "-"), *said])


def _node_words():
    """Each once: sinfo has a line for each of its partitions."""
    lines = run("sinfo", "--Node", "--noheader", "--format", "%N %T %C %E %f")
    return "\n".join(dict.fromkeys(lines.splitlines()))


# Which Pods and jobs there are, and which nodes: first, since who prints it may
# cut it short.
_LAST_QUESTIONS = {
    "Pods": lambda: "\n".join(_pod_words()),
    "squeue": lambda: run("squeue", "--all", "--noheader", "--format",
                          "%i %T %r prio=%Q %N %f %k"),
    "sinfo": _node_words,
}


def last_words():
    """For a failed case: what there is, and what the daemons said."""
    words = []
    for name, ask in _LAST_QUESTIONS.items():
        try:
            words.append(f"== {name}\n{ask().rstrip()}")
        except Exception as error:  # a case may have stopped who answers
            words.append(f"== {name}\nno answer: {error}")
    return "\n".join(words + [f"== {name}\n{log(name, 25)}"
                              for name in ("slurmk8sd", "slurmctld")])
