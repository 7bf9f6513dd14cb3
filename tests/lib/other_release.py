# SPDX-License-Identifier: GPL-2.0-or-later
"""The API server of another release of Kubernetes in the sandbox, for as long as a
program runs: it keeps its objects in the sandbox's etcd, below a name of their
own, has copies of the sandbox's Nodes, and kwok and the agent talk to it. There
are no controllers: a ServiceAccount is made by hand, and a namespace that is
deleted stays. tests/lib/beside.py makes a whole sandbox instead."""
import atexit
import base64
import json
import os
import signal
import subprocess
import sys
import urllib.request

import admission
import agent_conf
import bed
import beside
from tap import wait_for

PORT_OFFSET = 30  # of the sandbox's ports for tests
TOKEN = "/etc/slurm/k8s/token.other-release"

_SETTINGS = 'set -euo pipefail; . "$1/lib/settings.sh"; '
# As the sandbox's own, but for the release. Without a controller nobody would take
# away the taint of a Node that is new.
_API_SERVER = _SETTINGS + """
. "$HERE/kubernetes/$2/settings.sh"; . "$HERE/daemons/kube-apiserver"
KUBE_BIN=$3 PORT_APISERVER=$4
APISERVER_FLAGS+=(--etcd-prefix="$5"
    --disable-admission-plugins=TaintNodesByCondition)
run"""
_KWOK = _SETTINGS + '. "$HERE/daemons/kwok"; ADMIN_CONF=$2; run'


def _bash(code, *words):
    return ["bash", "-c", code, "bash", str(bed.TOP / "contribs/sandbox"), *words]


def find(release):
    """The directory of its daemons; or None, and why there is none. They take 700
    seconds of processor time to build, and scripts beside this one wait for each
    other: so that is left to who asks for it."""
    if not os.environ.get("TESTS_BUILD"):
        os.environ["SANDBOX_CACHE_ONLY"] = "yes"
    directory, why = beside.built(release)
    os.environ.pop("SANDBOX_CACHE_ONLY", None)
    return directory, why and why + "; TESTS_BUILD=yes builds it"


class OtherRelease:
    """From begin() to the end of the program bed.api(), kubectl and the agent
    talk to that API server. It is empty but for the Nodes, a namespace for tests,
    and contribs/kubernetes."""

    def __init__(self, release, directory):
        self.release, self.directory = release, directory
        self.port = int((bed.SANDBOX / "port").read_text()) + PORT_OFFSET
        self.own = os.environ["SANDBOX_API"]
        self.url = f"https://127.0.0.1:{self.port}"
        self.prefix = f"/kubernetes-{release}"
        self.kubeconfig = bed.SANDBOX / f"admin-{release}.conf"
        self.running = []
        self.said = ""  # by kubectl, of the manifests

    def begin(self):
        bed.clean()
        nodes = bed.api("GET", "/api/v1/nodes")["items"]
        atexit.register(self._end)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
        self._forget()
        self._start(f"kube-apiserver-{self.release}", _API_SERVER, self.release,
                    self.directory, str(self.port), self.prefix)
        self._turn_to()
        wait_for(f"the API server of {self.release}", self._serves, 60)
        self._fill(nodes)
        self._start(f"kwok-{self.release}", _KWOK, str(self.kubeconfig))
        agent_conf.edit(lambda conf: conf.replace(
            f"KubeApiServer={self.own}", f"KubeApiServer={self.url}").replace(
                f"KubeTokenFile={agent_conf.TOKEN}", f"KubeTokenFile={TOKEN}"))
        wait_for("the agent to serve", bed.serves)

    def _turn_to(self):
        own = (bed.SANDBOX / "admin.conf").read_text()
        self.kubeconfig.touch(mode=0o600)
        self.kubeconfig.write_text(own.replace(self.own, self.url))
        os.environ["KUBECONFIG"] = str(self.kubeconfig)
        os.environ["SANDBOX_API"] = self.url
        bed.talk_to(self.url)

    def _fill(self, nodes):
        for node in nodes:
            metadata = {key: value for key, value in node["metadata"].items()
                        if key in ("name", "labels", "annotations")}
            bed.api("POST", "/api/v1/nodes", {
                "metadata": metadata, "spec": {}, "status": node["status"]})
        bed.api("POST", "/api/v1/namespaces", {
            "metadata": {"name": bed.NAMESPACE}})
        bed.api("POST", f"/api/v1/namespaces/{bed.NAMESPACE}/serviceaccounts",
                {"metadata": {"name": "default"}})
        self.said = admission.apply()
        bed.inside("sh", "-c", f"umask 077; cat > {TOKEN}; "
                   f"chown slurm:slurm {TOKEN}",
                   stdin=admission.token(*admission.AGENT))

    def _serves(self):
        if self.running[0].poll() is not None:
            raise AssertionError("it has ended: " + self.words())
        return "ok" in bed.run("kubectl", "get", "--raw", "/readyz", check=False)

    def _start(self, name, code, *words):
        with open(bed.SANDBOX / f"log/{name}.log", "w") as log:
            self.running.append(subprocess.Popen(
                _bash(code, *words), stdin=subprocess.DEVNULL, stdout=log,
                stderr=subprocess.STDOUT))

    def _end(self):
        """Called after the agent has gone back."""
        for process in self.running:
            process.kill()  # on SIGTERM the API server waits for etcd for ever
            process.wait()
        self._forget()
        bed.inside("rm", "-f", TOKEN)
        self.kubeconfig.unlink(missing_ok=True)

    def _forget(self):
        """etcd has nothing of it."""
        def key(text):
            return base64.b64encode(text.encode()).decode()
        etcd = int((bed.SANDBOX / "port").read_text()) + 1
        request = urllib.request.Request(
            f"http://127.0.0.1:{etcd}/v3/kv/deleterange", json.dumps({
                "key": key(self.prefix + "/"),
                "range_end": key(self.prefix + "0")}).encode())  # "/" + 1
        urllib.request.urlopen(request, timeout=60).read()

    def words(self):
        return bed.log(f"kube-apiserver-{self.release}", 15)
