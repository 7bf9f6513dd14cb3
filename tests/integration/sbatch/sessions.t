#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""slurmk8s logs, attach and salloc: users come to the logs and the containers of
their own jobs, at the agent's socket and by TLS, without a right in
Kubernetes."""
import contextlib
import fcntl
import os
import pathlib
import pty
import signal
import struct
import subprocess
import sys
import termios

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import admission
import agent_conf
import batch
import bed
import real_nodes
import slurmctld
from batch import IMAGE, NS, clear, job, pod_of, wait_state
from tap import case, check, equal, run, wait_for

SOCKET = "/run/slurmk8s/user.sock"
LOGINS = f"{slurmctld.STATE}/k8s_logins"
REMOTE = "/etc/slurm/k8s-login.conf"  # k8s.conf of a login node
ATTACH = bed.TOP / "contribs/kubernetes/components/sbatch-attach"
PORT = int(bed.web_address().split(":")[1]) + 22

CERTIFICATE = """set -e
umask 077
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 \\
    -subj /CN=sandbox -addext subjectAltName=DNS:localhost \\
    -keyout /etc/slurm/k8s/user.key -out /etc/slurm/user.crt 2> /dev/null
chown slurm /etc/slurm/k8s/user.key
chmod 644 /etc/slurm/user.crt
"""


def begin():
    bed.inside("sh", "-c", CERTIFICATE)
    for host, path in (("localhost", REMOTE), ("127.0.0.1", REMOTE + ".ip")):
        bed.inside("sh", "-c", f"cat > {path}; chmod 644 {path}",
                   stdin=f"UserServer={host}:{PORT}\n"
                         "UserCaFile=/etc/slurm/user.crt\n")
    agent_conf.edit(lambda text: text + f"""
UserSocket={SOCKET}
UserAddress=127.0.0.1:{PORT}
UserCertificate=/etc/slurm/user.crt
UserKey=/etc/slurm/k8s/user.key
UserAttach=yes
""", at_end)
    bed.run("kubectl", "apply", "-f", str(ATTACH / "role.yaml"),
            "-f", str(ATTACH / "rolebinding.yaml"))
    wait_for("the agent to serve", bed.serves)


def at_end():
    bed.inside("rm", "-rf", "/etc/slurm/k8s/user.key", "/etc/slurm/user.crt",
               REMOTE, REMOTE + ".ip", LOGINS)
    bed.run("kubectl", "delete", "--ignore-not-found", "-f",
            str(ATTACH / "rolebinding.yaml"), "-f", str(ATTACH / "role.yaml"))


def slurmk8s(*words, user="alice", stdin="", conf=None):
    """The exit status, and what it says."""
    options = ["-f", conf] if conf else []
    said = bed.inside("sh", "-c", '"$@"; echo "exit $?"', "sh", "slurmk8s",
                      *options, *words, user=user, stdin=stdin)
    text, _, status = said.rpartition("exit ")
    return int(status), text


def submit(script, partition="real", user="alice"):
    return batch.submit("--output=/dev/null", script="#!/bin/sh\n" + script,
                        partition=partition, user=user)


def on_real1(script):
    """A job whose container runs."""
    real_nodes.need_one()
    number = submit(script)
    wait_for("its container to run", lambda: (pod_of(number) or {}).get(
        "status", {}).get("phase") in ("Running", "Succeeded"), 60)
    return number


def on_kwok():
    number = submit("exit 0\n", "kwok")
    wait_for("the job to run", lambda: job(number)["job_state"] == ["RUNNING"])
    wait_for("its Pod to be started", lambda: pod_of(number)["status"].get(
        "phase") == "Running")
    return number


def before_each():
    clear("alice", "bob")


@case
def log_of_own_job():
    """a user reads the log of a job of his at the socket, byte for byte, while
    it runs and when it is over; scancel and time limit do not matter"""
    number = on_real1('printf "one\\n\\n  two %s" "$SLURM_JOB_ID"\nexit 3\n')
    wait_state(number, "FAILED")

    equal(slurmk8s("logs", str(number)), (0, f"one\n\n  two {number}"), "logs")


@case
def followed():
    """logs -f shows what comes, and ends with the container"""
    number = on_real1("echo begun\nuntil [ -e /tmp/go ]; do sleep 0.1; done\n"
                      "echo ended\n")
    with subprocess.Popen(
            [str(bed.TOP / "contribs/sandbox/exec"), "slurmk8s", "logs", "-f",
             str(number)], stdout=subprocess.PIPE, text=True) as reader:
        try:
            equal(reader.stdout.readline(), "begun\n", "first line")
            equal(slurmk8s("attach", str(number), "--", "touch", "/tmp/go"),
                  (0, ""), "attach")
            wait_state(number, "COMPLETED")
            equal(reader.stdout.read(), "ended\n", "the rest")
        except AssertionError:
            reader.kill()
            bed.run("scancel", str(number))
            raise
    equal(reader.returncode, 0, "exit status")


@case
def others():
    """another user is refused, root is not, and a job without a Pod is not
    known"""
    number = on_kwok()

    for words in (["logs", str(number)],
                  ["attach", str(number), "--", "true"]):
        status, said = slurmk8s(*words, user="bob")
        equal(status, 1, "exit status")
        check("belongs to another user" in said, said)
    check("another user" not in slurmk8s("logs", str(number), user="root")[1],
          "root")
    status, said = slurmk8s("logs", "99999999")
    equal(status, 3, "exit status")
    check("StdOut" in said, said)
    bed.play(pod_of(number)["metadata"]["name"], NS, run="1ms")
    wait_state(number, "COMPLETED")


@case
def pod_gone():
    """a job whose Pod was removed is told from others, and where its output is
    is said"""
    number = on_kwok()
    name = pod_of(number)["metadata"]["name"]
    bed.play(name, NS, run="1ms")
    wait_state(number, "COMPLETED")
    bed.delete(name, NS, grace=1)
    wait_for("its Pod to be gone", lambda: pod_of(number) is None)

    status, said = slurmk8s("logs", str(number))

    equal(status, 3, "exit status")
    check("has been removed" in said and "StdOut" in said, said)


@contextlib.contextmanager
def without_rule(role, resource):
    path = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{NS}/roles/{role}"
    rules = bed.api("GET", path)["rules"]
    bed.api("PATCH", path, {"rules": [rule for rule in rules if resource not in
                                      rule["resources"]]}, admission.MERGE)
    try:
        yield
    finally:
        bed.api("PATCH", path, {"rules": rules}, admission.MERGE)


@case
def no_rights():
    """an agent that lacks a right says which component gives it"""
    number = on_kwok()

    with without_rule("slurmk8sd-sbatch", "pods/log"):
        said = wait_for("the right to be gone", lambda: (
            lambda said: "components/sbatch " in said and said)(
                slurmk8s("logs", str(number))[1]))
        check("pods/log" in said, said)
    with without_rule("slurmk8sd-sbatch-attach", "pods/exec"):
        wait_for("the right to be gone", lambda: "components/sbatch-attach" in
                 slurmk8s("attach", str(number), "--", "true")[1])
    bed.play(pod_of(number)["metadata"]["name"], NS, run="1ms")
    wait_state(number, "COMPLETED")


@case
def by_tls():
    """from a login node slurmctld says who a user is; no job comes of it, and a
    login is gone once it was used"""
    number = on_kwok()
    before = set(bed.jobs())

    for user, words in (("bob", "belongs to another user"),
                        ("alice", "")):
        status, said = slurmk8s("logs", str(number), user=user, conf=REMOTE)
        check(words in said, said)
        check(user == "bob" or "another user" not in said, said)
        check("who you are" not in said, said)
    equal(set(bed.jobs()) - before, set(), "new jobs")
    equal(bed.inside("ls", LOGINS), "", "logins that were used")
    facts = bed.inside("stat", "-c", "%U %a", LOGINS)
    equal(facts.strip(), "slurm 700", "the directory of logins")
    bed.play(pod_of(number)["metadata"]["name"], NS, run="1ms")
    wait_state(number, "COMPLETED")


@case
def certificate():
    """slurmk8s speaks to no server that has another name"""
    status, said = slurmk8s("logs", "1", conf=REMOTE + ".ip")

    equal(status, 1, "exit status")
    check("certificate is not trusted" in said, said)


@case
def a_login_needs_slurmctld():
    """a user of whom slurmctld has not told is refused, whatever he claims"""
    ask = ('import json,socket,ssl,struct,sys\n'
           'tls = ssl.create_default_context(cafile="/etc/slurm/user.crt")\n'
           f's = tls.wrap_socket(socket.create_connection(("localhost", {PORT}))'
           ', server_hostname="localhost")\n'
           'hello = json.dumps({"do": "logs", "job": 1, "login": "0" * 64})\n'
           's.sendall(b"h" + struct.pack(">I", len(hello)) + hello.encode())\n'
           'print(s.recv(4096))\n')
    said = bed.inside("python3", "-c", ask, user="alice")

    check("slurmctld has not said who you are" in said, said)


def on_terminal(number, script, typed):
    """The exit status of attach on a terminal of 33 rows and 77 columns, and
    what that shows."""
    ours, users = pty.openpty()
    fcntl.ioctl(users, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 77, 0, 0))
    with subprocess.Popen(
            ["timeout", "60", str(bed.TOP / "contribs/sandbox/exec"),
             "slurmk8s", "attach", str(number), "--", "sh", "-c", script],
            stdin=users, stdout=users, env={**os.environ,
                                            "SANDBOX_USER": "alice"}) as shell:
        os.write(ours, typed)
        status = shell.wait()
    os.close(users)
    shown = b""
    with contextlib.suppress(OSError):  # at its end
        while more := os.read(ours, 4096):
            shown += more
    os.close(ours)
    return status, shown


def interrupt(number, command):
    """The exit status of attach on a terminal when Ctrl-C is typed once the
    command has printed something."""
    ours, users = pty.openpty()
    with subprocess.Popen(
            ["timeout", "60", str(bed.TOP / "contribs/sandbox/exec"),
             "slurmk8s", "attach", str(number), "--", command],
            stdin=users, stdout=users, env={**os.environ,
                                            "SANDBOX_USER": "alice"}) as shell:
        os.close(users)
        os.read(ours, 4096)
        os.write(ours, b"\x03")
        with contextlib.suppress(OSError):  # at its end
            while os.read(ours, 65536):
                pass
        status = shell.wait()
    os.close(ours)
    return status


@case
def attached():
    """attach runs a command as the job's user, with input, both outputs and its
    exit code"""
    number = on_real1("sleep 1000\n")

    user = bed.inside("id", "-u", "alice").strip()
    status, said = slurmk8s("attach", str(number), "--", "sh", "-c",
                            "id -u; cat; echo bad >&2; exit 7",
                            stdin="a line\n")
    equal(status, 7, "exit status")
    # Both outputs are streams of their own.
    equal(sorted(said.splitlines()), [user, "a line", "bad"], "attach")
    big = "".join(f"{i}\n" for i in range(200000))
    status, said = slurmk8s("attach", str(number), "--", "cat", stdin=big,
                            conf=REMOTE)
    equal(status, 0, "exit status")
    check(said == big, f"{len(said)} of {len(big)} bytes came back")

    status, shown = on_terminal(
        # It complains of a terminal that has no size yet.
        number, "until stty size 2> /dev/null | grep -qx '33 77'; do sleep 0.1; done; "
        "read line; echo \"sized $line\"; exit 4", b"x\r")
    equal(status, 4, "exit status on a terminal")
    check(shown.endswith(b"x\r\nsized x\r\n"), shown)  # and what was typed
    equal(interrupt(number, "yes"), 130, "exit status of what was interrupted")
    bed.run("scancel", str(number))
    wait_state(number, "CANCELLED")


@case
def interactive():
    """slurmk8s salloc gives a shell with the job's environment and ends the job
    with it"""
    real_nodes.need_one()
    status, said = slurmk8s(
        "salloc", IMAGE, "-p", "real", "-D", "/tmp", "--", "sh", "-c",
        'echo "in $SLURM_JOB_ID $PWD"; srun -l echo task; exit 5')

    equal(status, 5, "exit status")
    line, = [line for line in said.splitlines() if line.startswith("in ")]
    number = int(line.split()[1])
    equal(line.split()[2], "/tmp", "directory")
    check("0: task" in said.splitlines() or not batch.srun_sum(), said)
    wait_state(number, "COMPLETED")


@case
def killed():
    """a job of slurmk8s salloc is cancelled when that is killed"""
    real_nodes.need_one()
    with subprocess.Popen(
            [str(bed.TOP / "contribs/sandbox/exec"), "slurmk8s", "salloc",
             IMAGE, "-p", "real", "-D", "/tmp", "--", "sh", "-c",
             "echo in $SLURM_JOB_ID; exec sleep 1000"], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            start_new_session=True,
            env={**os.environ, "SANDBOX_USER": "alice"}) as salloc:
        number = int(salloc.stdout.readline().split()[1])
        os.killpg(salloc.pid, signal.SIGKILL)

    wait_state(number, "CANCELLED")


@case
def plain_salloc():
    """plain salloc names the command that does it"""
    said = bed.run("salloc", IMAGE, "-p", "kwok", "true", user="alice",
                   check=False)

    check("slurmk8s salloc" in said, said)


begin()
admission.apply()
run(before_each=before_each, after_each=bed.nothing_left,
    after_failure=bed.last_words)
