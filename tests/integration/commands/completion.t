#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The completion of slurmk8s in shells: it knows the commands and options that
there are and no others, and offers the caller's own jobs."""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import bed
from tap import case, check, equal, run, wait_for

BASH = "/usr/share/bash-completion/completions/slurmk8s"
ZSH = "/usr/share/zsh/vendor-completions/_slurmk8s"


def completed(*words, user=None):
    """What bash offers for the last of these words."""
    said = bed.inside(
        "bash", "-c", f'. {BASH}; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); '
        '_slurmk8s; printf "%s\\n" "${COMPREPLY[@]}"', "bash", *words,
        user=user)
    return sorted(said.split())


def helped():
    """The commands and the options that slurmk8s --help names."""
    said = bed.run("slurmk8s", "--help")
    usage, _, options = said.partition("Options:")
    commands = set(re.findall(r"slurmk8s \[[^]]*\] (\w+)", usage))
    for words in re.findall(r"slurmk8s ([\w|]+) \[OPTIONS", usage):
        commands |= set(words.split("|"))
    options = re.findall(r"^  (-\w), (--\w+)", options, re.M)
    check(len(commands) > 5 and len(options) > 4, said)
    return commands, {word for pair in options for word in pair}


@case
def bash():
    """bash offers the commands and options of --help"""
    commands, options = helped()
    equal(set(completed("slurmk8s", "")), commands, "commands")
    equal(set(completed("slurmk8s", "-")), options, "options")
    equal(set(completed("slurmk8s", "status", "-")), options, "of a command")
    equal(completed("kubectl-slurm", "sta"), ["status"], "as kubectl slurm")
    equal(completed("slurmk8s", "attach", "1", "--", "-"), [], "the user's")
    usage = bed.run("slurmk8s", "--help")
    equal(set(re.findall(r"logs \[(--\w+)\]", usage)),
          set(completed("slurmk8s", "logs", "--")), "of logs")


@case
def zsh():
    """zsh's file names the same commands and options"""
    commands, options = helped()
    text = bed.inside("cat", ZSH)
    listed = text.partition("commands=(\n")[2].partition("\n    )")[0]
    equal(set(re.findall(r"^ +'(\w+):", listed, re.M)), commands, "commands")
    general = text.partition("typeset -A opt_args")[2].partition("case ")[0]
    equal({word for pair in re.findall(r"\{(-\w),(--\w+)\}", general)
           for word in pair}, options, "options")
    cases = {word for words in re.findall(r"^        ([\w |]+)\)", text, re.M)
             for word in words.split(" | ")}
    equal(cases, commands, "commands whose arguments are known")


@case
def options_of_setup():
    """setup and uninstall have the options of their own --help"""
    for command in ("setup", "uninstall"):
        said = bed.run("slurmk8s", command, "--help")
        options = {word for words in re.findall(
            r"^  ((?:-\w, )?--[\w-]+)", said, re.M) for word in words.split(", ")}
        check(len(options) > 5, said)
        equal(set(completed("slurmk8s", command, "-")), options, "bash")
        text = bed.inside("cat", ZSH)
        both = text.partition("both=(")[2].partition("\n    )")[0]
        own = text.partition(f"        {command})")[2].partition(";;")[0]
        equal(set(re.findall(r"(?<![\w-])--?[a-z][\w-]*(?=[\[,}])",
                             both + own)), options, "zsh")


@case
def options_of_top():
    """top has the options of its own --help"""
    said = bed.run("slurmk8s", "top", "--help")
    options = {word for words in re.findall(
        r"^  ((?:-\w, )?--\w+)", said, re.M) for word in words.split(", ")}
    check(len(options) > 4, said)
    equal(set(completed("slurmk8s", "top", "-")), options, "bash")
    own = bed.inside("cat", ZSH).partition("        top)")[2].partition(";;")[0]
    equal(set(re.findall(r"(?<![\w-])--?[a-z]+(?=[\[,}])", own)), options, "zsh")


@case
def options_of_salloc():
    """salloc has the options that sbatch has for Pods"""
    wanted = set(re.findall(r"--k8s-[\w-]+", bed.run("sbatch", "--help")))
    wanted -= {"--k8s-no-burst"}  # of jobs without Pods
    check(wanted, "sbatch has no options for Pods")
    equal({word.rstrip("=") for word in completed("slurmk8s", "salloc", "--")},
          wanted, "bash")
    equal(set(re.findall(r"--k8s-[\w-]+", bed.inside("cat", ZSH))), wanted,
          "zsh")


@case
def jobs():
    """logs and explain offer the caller's own jobs"""
    said = bed.run("sbatch", "--parsable", "-p", "native", "-D", "/tmp", "-o",
                   "none", "--wrap", "sleep 600", user="bob")
    job = said.strip().splitlines()[-1]
    try:
        wait_for("bob's job to run", lambda: bed.jobs()[int(job)]["job_state"]
                 == ["RUNNING"], 60)
        for command in ("logs", "attach", "explain"):
            check(job in completed("slurmk8s", command, "", user="bob"), command)
            check(job not in completed("slurmk8s", command, "", user="alice"),
                  f"{command} offers the job of another user")
    finally:
        bed.run("scancel", job)


run(before_each=bed.clean, after_failure=bed.last_words)
