#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The agent renews its own token: one with little time left is replaced at once,
by a file that only SlurmUser can read; what keeps it from that is a problem
that names the reason."""
import base64
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import admission
import agent_conf
import bed
from tap import case, check, equal, run, wait_for

DIRECTORY = "/var/lib/slurmk8s"
TOKEN = f"{DIRECTORY}/token"
ROLE = ("/apis/rbac.authorization.k8s.io/v1/namespaces/slurm-k8s-bridge/roles"
        "/slurmk8sd")


def put(token):
    bed.inside("install", "-d", "-m", "700", "-o", "slurm", "-g", "slurm",
               DIRECTORY)
    bed.inside("sh", "-c", f"umask 077; cat > {TOKEN}.test; chown slurm:slurm "
               f"{TOKEN}.test; mv {TOKEN}.test {TOKEN}", stdin=token)


def short_token():
    """A token of ten minutes, the least that the API server gives."""
    account = "/".join(("", "api/v1/namespaces", admission.AGENT[0],
                        "serviceaccounts", admission.AGENT[1], "token"))
    return bed.api("POST", account, {"spec": {"expirationSeconds": 600}})[
        "status"]["token"]


def kept():
    return bed.inside("cat", TOKEN, check=False).strip()


def life(token):
    claims = token.split(".")[1]
    claims = json.loads(base64.urlsafe_b64decode(
        claims + "=" * (-len(claims) % 4)))
    return claims["exp"] - claims["iat"]


def hup():
    bed.ctl("kill", "--signal", "HUP", "slurmk8sd")


def renewed(old):
    """The new token, which the agent takes when it is asked to look."""
    def look():
        hup()
        return kept() not in ("", old) and kept()
    return wait_for("the token to be renewed", look, 30, every=0.5)


def problem(*words):
    def said():
        hup()
        found = bed.status()["problems"].get("token", "")
        return all(word in found for word in words) and found
    return wait_for(f"the problem {words}", said, 30, every=0.5)


def no_problem():
    wait_for("the problem to be solved",
             lambda: "token" not in bed.status()["problems"], 90)


@case
def renews():
    """a token of ten minutes is replaced by one of an hour, with which the agent
    goes on"""
    old = short_token()
    put(old)
    new = renewed(old)
    equal(life(new), 3600, "its life in seconds")
    equal(bed.inside("stat", "-c", "%U %a", TOKEN).strip(), "slurm 400",
          "owner and mode")
    # The agent keeps the counts for its metrics there, too.
    equal([name for name in bed.inside("ls", DIRECTORY).split()
           if not name.startswith("job-history")], ["token"], "files")
    equal(bed.status()["problems"], {}, "problems")
    check(new not in bed.log("slurmk8sd", 1000), "the log has no token")
    who = bed.api("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews",
                  {}, token=new)
    equal(who["status"]["userInfo"]["username"],
          "system:serviceaccount:slurm-k8s-bridge:slurmk8sd", "who it is")


@case
def lasts():
    """a token that has most of its life left is not touched"""
    before = kept()
    log = bed.log_size("slurmk8sd")
    for _ in range(3):
        agent_conf.hup()
    equal(kept(), before, "the token")
    check("the token was renewed" not in bed.log_since("slurmk8sd", log),
          bed.log_since("slurmk8sd", log))


@case
def without_the_right():
    """without the right a token that ends soon is a problem; given again, the
    token is renewed"""
    rules = [rule for rule in bed.api("GET", ROLE)["rules"]
             if "serviceaccounts/token" not in rule["resources"]]
    bed.api("PATCH", ROLE, {"rules": rules}, admission.MERGE)
    try:
        old = short_token()
        put(old)
        problem(TOKEN, "expires at", "serviceaccounts")
    finally:
        admission.apply()
    renewed(old)
    no_problem()


@case
def without_the_directory():
    """where it cannot write the directory it says so"""
    old = short_token()
    put(old)
    bed.inside("chown", "root:slurm", DIRECTORY)
    bed.inside("chmod", "750", DIRECTORY)
    try:
        problem(TOKEN, "expires at", f"write {DIRECTORY}")
    finally:
        bed.inside("chown", "slurm:slurm", DIRECTORY)
        bed.inside("chmod", "700", DIRECTORY)
    renewed(old)
    no_problem()


def tidy_up():
    bed.inside("rm", "-f", TOKEN)


admission.apply()
put(agent_conf.read(agent_conf.TOKEN))
agent_conf.edit(lambda text: text.replace(
    f"KubeTokenFile={agent_conf.TOKEN}", f"KubeTokenFile={TOKEN}"), tidy_up)
run(after_failure=bed.last_words)
