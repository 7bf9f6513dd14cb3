# SPDX-License-Identifier: GPL-2.0-or-later
"""The real JobSet and LeaderWorkerSet controllers in the sandbox. They are no
part of this repository: a directory with their binaries, CRDs and webhooks is
taken from $CONTROLLERS, or from ../shared/controllers beside the checkout."""
import collections
import json
import lzma
import os
import pathlib
import socket
import subprocess

import bed
from tap import Skip, wait_for

# label: of the Pods that it looks at; path: where its objects are.
Kind = collections.namedtuple("Kind", "label path")
# By the name with which the names of its files begin.
KINDS = {
    "jobset": Kind("jobset.sigs.k8s.io/jobset-name",
                   "/apis/jobset.x-k8s.io/v1alpha2/jobsets"),
    "lws": Kind("leaderworkerset.sigs.k8s.io/name",
                "/apis/leaderworkerset.x-k8s.io/v1/leaderworkersets")}
# Kinds that it watches and whose CRDs are not with it: without them it ends two
# minutes after its start.
WATCHED_TOO = {"lws": ("disaggregatedset.x-k8s.io",
                       ["DisaggregatedSet", "DisaggregatedSetRoleScaler"])}
FIRST_PORT = 24  # of the sandbox's; two for each


def where():
    return pathlib.Path(os.environ.get("CONTROLLERS") or
                        bed.TOP / "../shared/controllers")


def why_missing(name):
    """Why the program cannot be had; "": it can."""
    there = (where() / f"{name}.xz").exists()
    return "" if there else f"no {name}.xz in {where()}: set CONTROLLERS"


def unpack(name, to):
    """The program, as the file to, unless that is there."""
    if to.exists():
        return
    packed = where() / f"{name}.xz"
    half = to.with_name(to.name + ".new")  # nobody sees half of it
    half.write_bytes(lzma.open(packed).read())
    half.chmod(0o755)
    half.rename(to)


def any_object(group, kind):
    """The CRD of a kind whose objects nobody makes."""
    plural = kind.lower() + "s"
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {"apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{group}"},
            "spec": {"group": group, "scope": "Namespaced",
                     "names": {"kind": kind, "plural": plural},
                     "versions": [{"name": "v1", "served": True,
                                   "storage": True, "schema": {
                                       "openAPIV3Schema": schema}}]}}


class Controller:
    """Runs one of them, from start() to stop()."""

    def __init__(self, name):
        self.name, self.from_ = name, where()
        self.here = bed.SANDBOX / "controllers" / name
        index = sorted(KINDS).index(name) * 2
        base = int((bed.SANDBOX / "port").read_text()) + FIRST_PORT
        self.webhook, self.health = base + index, base + index + 1
        self.process = None

    def start(self):
        if why := why_missing(self.name):
            raise Skip(why)
        self.here.mkdir(parents=True, exist_ok=True)
        binary = self.here / self.name
        unpack(self.name, binary)
        self._certificate()
        bed.run("kubectl", "apply", "--server-side", "--force-conflicts", "-f",
                str(self.from_ / f"{self.name}-crd.yaml"))
        group, kinds = WATCHED_TOO.get(self.name, ("", []))
        for kind in kinds:
            bed.run("kubectl", "apply", "--server-side", "-f", "-",
                    stdin=json.dumps(any_object(group, kind)))
        wait_for(f"the CRDs of {self.name}", lambda: self._established())
        wait_for(f"the API of {self.name}", lambda: self._served())
        self._webhooks()
        log = open(self.here / "log", "w")
        self.process = subprocess.Popen(
            [str(binary), f"--config={self._config()}"],
            env={**os.environ, "KUBECONFIG": str(bed.SANDBOX / "admin.conf")},
            stdout=log, stderr=subprocess.STDOUT)
        try:
            wait_for(f"the webhook of {self.name}", self._answers, 60)
        except AssertionError:
            self.stop()
            raise

    def stop(self):
        """Its webhooks go with it: they would refuse all Pods of its kind."""
        bed.run("kubectl", "delete", "--ignore-not-found", "-f",
                str(self.here / "webhooks.yaml"), check=False)
        if self.process:
            self.process.terminate()
            self.process.wait()
            self.process = None

    def log(self):
        path = self.here / "log"
        return path.read_text(errors="replace")[-3000:] if path.exists() else ""

    def _established(self):
        """kubectl wait takes a CRD that has no condition yet for a mistake."""
        shown = json.loads(bed.run("kubectl", "get", "-o", "json", "-f",
                                   str(self.from_ / f"{self.name}-crd.yaml")))
        return all(any(c["type"] == "Established" and c["status"] == "True"
                       for c in crd.get("status", {}).get("conditions") or [])
                   for crd in shown.get("items", [shown]))

    def _served(self):
        try:
            return bed.api("GET", KINDS[self.name].path)
        except (bed.ApiError, ValueError):  # no such path yet, in plain text
            return None

    def _answers(self):
        if self.process.poll() is not None:
            raise AssertionError(f"{self.name} ended: {self.log()}")
        with socket.socket() as s:
            return s.connect_ex(("127.0.0.1", self.webhook)) == 0

    def _certificate(self):
        pki, key = bed.SANDBOX / "pki", self.here / "tls.key"
        extension = self.here / "extension"
        extension.write_text("subjectAltName=IP:127.0.0.1\n")
        bed.run("openssl", "req", "-newkey", "ec", "-pkeyopt",
                "ec_paramgen_curve:P-256", "-nodes", "-keyout", str(key),
                "-out", str(self.here / "tls.csr"), "-subj", f"/CN={self.name}")
        bed.run("openssl", "x509", "-req", "-in", str(self.here / "tls.csr"),
                "-CA", str(pki / "ca.crt"), "-CAkey", str(pki / "ca.key"),
                "-set_serial", str(self.webhook), "-days", "30",
                "-out", str(self.here / "tls.crt"),
                "-extfile", str(extension))

    def _config(self):
        text = (self.from_ / f"{self.name}-config.yaml").read_text()
        lines = []
        for line in text.splitlines():
            if line.startswith("webhook:"):
                line = (f"webhook: {{port: {self.webhook}, host: 127.0.0.1, "
                        f"certDir: {self.here}}}")
            elif line.startswith("health:"):
                line = (f'health: {{healthProbeBindAddress: '
                        f'"127.0.0.1:{self.health}"}}')
            lines.append(line)
        path = self.here / "config.yaml"
        path.write_text("\n".join(lines) + "\n")
        return path

    def _webhooks(self):
        """The upstream manifests, for a server on loopback; of Pods only those
        of its kind."""
        made = subprocess.run(
            ["python3", str(self.from_ / "loopback-webhooks"),
             str(self.from_ / f"{self.name}-webhooks.yaml"), str(self.webhook),
             f"{self.name}-", KINDS[self.name].label, str(bed.SANDBOX / "pki/ca.crt")],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if made.returncode != 0:
            raise Skip(f"loopback-webhooks: {made.stderr.strip()[-200:]}")
        path = self.here / "webhooks.yaml"
        path.write_text(made.stdout)
        bed.run("kubectl", "apply", "-f", str(path))
