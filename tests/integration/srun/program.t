#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""srun for the Pods of a job, without Slurm and Kubernetes: its workers listen
at addresses of loopback, and a directory stands for what is in the Pods."""
import contextlib
import ctypes
import hashlib
import os
import pathlib
import pty
import re
import resource
import secrets
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
from tap import Skip, case, check, equal, never, run, skip_all, wait_for

PROGRAM = pathlib.Path(os.environ["SANDBOX"]) / "build/slurmk8s-srun"
JOB = 4_000_000 + os.getpid()
NODES = 4
MAX_CONFIG_MAP = 1 << 20  # bytes


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.2", 0))
        return probe.getsockname()[1]


class Job:
    """A job of so many nodes: n1 has srun, the others a worker each."""

    def __init__(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="srun-"))
        self.workers = {}
        self.steps = []
        self.port = free_port()
        self.key = self.directory / "step.key"
        self.key.write_text(secrets.token_hex(32))
        (self.directory / "hosts").mkdir()
        self.hosts = self.directory / "hosts/hosts"
        self.work = self.directory / "work"
        self.work.mkdir()
        self.write_hosts(range(NODES))
        for rank in range(1, NODES):
            self.start_worker(rank)

    def address(self, rank):
        return f"127.0.0.{rank + 1}"

    def write_hosts(self, ranks):
        lines = [f"{rank} n{rank + 1} {self.address(rank)}\n" for rank in ranks]
        new = self.directory / "hosts/new"
        new.write_text("".join(lines))
        new.rename(self.hosts)

    def environment(self, **variables):
        return {"PATH": os.environ["PATH"],
                "SLURM_JOB_ID": str(JOB),
                "SLURM_JOB_NUM_NODES": str(NODES),
                "SLURM_JOB_NODELIST": f"n[1-{NODES}]",
                "SLURM_JOB_CPUS_PER_NODE": f"16(x{NODES})",
                "SLURMK8S_STEP_DIR": str(self.directory),
                "SLURMK8S_STEP_PORT": str(self.port),
                "SLURMK8S_STEP_WAIT": "20",
                "SLURMK8S_KILL_WAIT": "2", **variables}

    def start_worker(self, rank, directory=None):
        environment = self.environment(HOSTNAME=f"pod-{rank}")
        if directory:
            environment["SLURMK8S_STEP_DIR"] = str(directory)
        worker = subprocess.Popen(
            [PROGRAM, "--worker", f"--listen={self.address(rank)}"],
            env=environment, stderr=subprocess.PIPE, text=True,
            start_new_session=True)
        line = worker.stderr.readline()
        check("waiting for steps" in line, f"worker {rank}: {line}")
        self.workers[rank] = worker

    def stop_worker(self, rank, number=signal.SIGTERM):
        worker = self.workers.pop(rank)
        worker.send_signal(number)
        worker.wait(20)
        worker.stderr.close()

    def start(self, *words, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
              before=None, **variables):
        step = subprocess.Popen([PROGRAM, *words], cwd=self.work, text=True,
                                env=self.environment(**variables), stdin=stdin,
                                stdout=subprocess.PIPE, stderr=stderr,
                                preexec_fn=before)
        self.steps.append(step)
        return step

    def srun(self, *words, code=0, stdin="", **variables):
        """What it printed on stdout and stderr."""
        done = subprocess.run([PROGRAM, *words], cwd=self.work, text=True,
                              input=stdin, capture_output=True, timeout=60,
                              env=self.environment(**variables))
        equal(done.returncode, code, f"srun {words}: {done.stderr}")
        return done.stdout, done.stderr

    def end(self):
        for step in self.steps:
            if step.poll() is None:  # its case has failed
                step.kill()
                step.wait()
        for rank in list(self.workers):
            self.stop_worker(rank)
        shutil.rmtree(self.directory)
        pathlib.Path(f"/tmp/slurmk8s-{JOB}.step.id").unlink(missing_ok=True)


def processes_with(mark):
    """The processes in whose command line that is, but those of srun itself."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if not entry.name.isdigit():
                continue
            words = (entry / "cmdline").read_text()
            if mark in words and not words.startswith(str(PROGRAM)):
                found.append(int(entry.name))
    return found


def has_interpreter(elf):
    """Whether a program of 64 bits is linked dynamically (PT_INTERP is 3)."""
    offset, = struct.unpack_from("<Q", elf, 0x20)
    size, count = struct.unpack_from("<HH", elf, 0x36)
    return any(struct.unpack_from("<I", elf, offset + n * size)[0] == 3
               for n in range(count))


def sleep_mark():
    """Seconds that no other sleep(1) has."""
    return f"{1000 + secrets.randbelow(1000)}.{secrets.randbelow(10 ** 9)}"


def started(mark, count):
    wait_for(f"{count} tasks", lambda: len(processes_with(mark)) == count, 20)


def children_of(pid):
    path = pathlib.Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in path.read_text().split()]


def parent_of(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"^PPid:\s*(\d+)", status, re.MULTILINE)[1])


def sockets_of(pid):
    """Copies of the TCP sockets that the process has."""
    process = os.pidfd_open(pid)
    for entry in os.listdir(f"/proc/{pid}/fd"):
        fd = ctypes.CDLL(None).syscall(438, process, int(entry), 0)
        if fd < 0:
            raise Skip("pidfd_getfd(2) is not possible here")
        if not stat.S_ISSOCK(os.fstat(fd).st_mode):
            os.close(fd)
            continue
        with socket.socket(fileno=fd) as copy:
            if copy.family == socket.AF_INET:
                yield copy
    os.close(process)


def soft_limit(name, soft):
    """For a process that is about to start, or one with that pid."""
    def change(pid=0):
        hard = resource.prlimit(pid, name)[1]
        resource.prlimit(pid, name, (soft, hard))
    return change


class Relay:
    """Passes on, both ways, what comes to one address to another one."""

    def __init__(self, here, there):
        self.listener = socket.create_server(here)
        self.there = there
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                caller = self.listener.accept()[0]
                other = socket.create_connection(self.there, 5)
                for ends in ((caller, other), (other, caller)):
                    threading.Thread(target=self.copy, args=ends,
                                     daemon=True).start()

    @staticmethod
    def copy(source, target):
        with contextlib.suppress(OSError):
            while piece := source.recv(65536):
                target.sendall(piece)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_WR)

    def end(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


def stands_still(path):
    before = path.read_text()
    time.sleep(0.3)
    return path.read_text() == before


def output_stands_still(mark):
    """All that is between these tasks and srun's stdout is full."""
    wait_for("tasks", lambda: processes_with(mark), 20)
    wait_for("output that stands still", lambda: all(
        stands_still(pathlib.Path(f"/proc/{pid}/io"))
        for pid in processes_with(mark)), 20)


def gone(mark):
    wait_for("the tasks' end", lambda: not processes_with(mark), 20)


if not PROGRAM.exists():
    skip_all("this system has no static libraries")
job = Job()


@case
def program():
    """the program needs no library, and fits into a ConfigMap"""
    size = PROGRAM.stat().st_size
    check(size < MAX_CONFIG_MAP * 0.95, f"{size} bytes")
    check(not has_interpreter(PROGRAM.read_bytes()), "it has an interpreter")
    out, _ = job.srun("--help")
    check("Usage: srun" in out, out)


@case
def empty_image():
    """an image that has nothing at all is enough"""
    root = job.directory / "image"
    (root / "tmp").mkdir(parents=True)
    shutil.copy(PROGRAM, root / "srun")
    done = subprocess.run(["chroot", root, "/srun", "-n3", "-l", "/srun",
                           "--version"], stdin=subprocess.DEVNULL, timeout=60,
                          env=job.environment(SLURM_JOB_NUM_NODES="1",
                                              SLURM_JOB_CPUS_PER_NODE="4"),
                          text=True, capture_output=True)
    equal(done.returncode, 0, done.stderr)
    equal([line.split()[0] for line in sorted(done.stdout.splitlines())],
          ["0:", "1:", "2:"], done.stdout)


@case
def layout():
    """tasks are on the nodes as Slurm lays them out, and know it"""
    script = "echo $SLURM_PROCID $SLURMD_NODENAME $SLURM_LOCALID " \
             "$SLURM_NODEID $SLURM_GTIDS $SLURM_NTASKS $SLURM_STEP_NODELIST " \
             "$SLURM_STEP_TASKS_PER_NODE"
    out, _ = job.srun("-n6", "sh", "-c", script)
    lines = sorted(out.splitlines())
    tail = "6 n[1-4] 2(x2),1(x2)"
    equal(lines, [f"0 n1 0 0 0,1 {tail}", f"1 n1 1 0 0,1 {tail}",
                  f"2 n2 0 1 2,3 {tail}", f"3 n2 1 1 2,3 {tail}",
                  f"4 n3 0 2 4 {tail}", f"5 n4 0 3 5 {tail}"], "block")
    out, _ = job.srun("-N2", "-n4", "-m", "cyclic", "-r1", "sh", "-c", script)
    equal(sorted(line.split()[1] for line in out.splitlines()),
          ["n2", "n2", "n3", "n3"], "nodes")
    check("0 n2 0 0 0,2 4" in out, out)
    _, err = job.srun("-n1", "true")
    check("warning: can't run 1 processes on 4 nodes" in err, err)


@case
def component_of_the_job():
    """--het-group starts tasks in the Pods of one component, which looks to it like a
    job of its own; without it srun has those of the first"""
    groups = {"SLURM_HET_SIZE": "2", "SLURM_JOB_NUM_NODES": "1",
              "SLURM_JOB_NODELIST": "n1", "SLURM_JOB_CPUS_PER_NODE": "16",
              "SLURM_NTASKS": "1", "SLURM_JOB_NUM_NODES_HET_GROUP_0": "1",
              "SLURM_JOB_NUM_NODES_HET_GROUP_1": "3",
              "SLURM_JOB_NODELIST_HET_GROUP_1": "n[2-4]",
              "SLURM_JOB_CPUS_PER_NODE_HET_GROUP_1": "2,2,1",
              "SLURMD_NODENAME": "n1"}
    script = "echo $SLURM_PROCID $SLURMD_NODENAME $SLURM_NODEID $SLURM_NTASKS " \
             "$SLURM_JOB_NODELIST"
    out, _ = job.srun("sh", "-c", script, **groups)
    equal(out, "0 n1 0 1 n1\n", "without it")
    out, _ = job.srun("--het-group=1", "sh", "-c", script, **groups)
    equal(sorted(out.splitlines()),
          [f"{n} n{n + 2} {n} 3 n[2-4]" for n in range(3)], "group 1")
    out, _ = job.srun("--het-group=1", "-r1", "-n2", "-N1", "sh", "-c", script,
                      **groups)
    equal({line.split()[1] for line in out.splitlines()}, {"n3"}, "-r")
    _, err = job.srun("--het-group=1", "-n6", "true", code=1, **groups)
    check("More processors" in err, err)
    for words, said in ((["--het-group=2"], "0 to 1"),
                        (["--het-group=0,1"], "one component")):
        _, err = job.srun(*words, "true", code=1, **groups)
        check(said in err, err)


@case
def defaults():
    """without options a step is as its job"""
    out, _ = job.srun("sh", "-c", "echo $SLURMD_NODENAME", SLURM_NTASKS="8",
                      SLURM_NTASKS_PER_NODE="2")
    equal(sorted(out.split()), sorted(["n1", "n2", "n3", "n4"] * 2), "nodes")
    out, _ = job.srun("--label", "echo", "x")
    equal(sorted(out.splitlines()), [f"{n}: x" for n in range(4)], "labels")


@case
def environment():
    """the caller's environment goes along, the container's own name does not"""
    (job.work / "sub").mkdir()
    out, _ = job.srun("-l", "-D", "sub", "sh", "-c",
                      "echo $MINE $HOSTNAME $(pwd) $(umask)", MINE="a b",
                      HOSTNAME="first")
    here = job.work / "sub"
    equal(sorted(out.splitlines()),
          [f"0: a b first {here} 0022"] +
          [f"{n}: a b pod-{n} {here} 0022" for n in range(1, 4)], "output")
    out, _ = job.srun("-N1", "--export=X=1,PATH", "sh", "-c", "echo $X $MINE .",
                      MINE="a")
    equal(out, "1 .\n", "--export")
    _, err = job.srun("-N1", "-D", "/no/such", "true")
    check("couldn't chdir to `/no/such'" in err, err)


@case
def step_ids():
    """steps of a job are counted, also when they run side by side"""
    first, _ = job.srun("-N1", "sh", "-c", "echo $SLURM_STEP_ID")
    several = [job.start("-N2", "sh", "-c", "echo $SLURM_STEP_ID")
               for _ in range(5)]
    ids = set()
    for one in several:
        out, err = one.communicate(timeout=60)
        equal(one.returncode, 0, err)
        check(len(set(out.split())) == 1, out)
        ids.add(int(out.split()[0]))
    equal(ids, set(range(int(first) + 1, int(first) + 6)), "ids")


@case
def exit_codes():
    """srun's exit code is the highest, and it says which tasks failed"""
    _, err = job.srun("-n4", "sh", "-c", "exit $SLURM_PROCID", code=3)
    check("srun: error: n4: task 3: Exited with exit code 3" in err, err)
    _, err = job.srun("-n8", "sh", "-c", "[ $SLURM_NODEID != 2 ] || exit 9",
                      code=9)
    check("n3: task" in err and "Exited with exit code 9" in err, err)
    _, err = job.srun("-n4", "sh", "-c",
                      "[ $SLURM_PROCID != 2 ] || kill -9 $$; exit 250",
                      code=137)
    check("n3: task 2: Killed" in err, err)
    _, err = job.srun("-N2", "no-such-program", code=2)
    check("n2: execve(): no-such-program: No such file" in err, err)
    job.srun("-N2", "/etc/passwd", code=13)


@case
def refused():
    """what is not possible is refused in words, and starts nothing"""
    for words, said in ((["--mpi=pmix", "touch", "x"], "there is no PMI"),
                        (["--pty", "touch", "x"], "slurmk8s attach"),
                        (["-n65", "touch", "x"], "More processors"),
                        (["-wn9", "touch", "x"], "n9"),
                        (["-N9", "touch", "x"], "asked for 9"), ([], "No comm")):
        _, err = job.srun(*words, code=1)
        check(err.startswith("srun: error: ") and said in err, err)
    check(not (job.work / "x").exists(), "a task has run")
    _, err = job.srun("true", code=1, SLURMD_NODENAME="n2")
    check("another node" in err, err)


@case
def nested():
    """a task can call srun on the script's own node, and on no other one"""
    out, _ = job.srun("-N1", PROGRAM, "-N1", "echo", "x", SLURMD_NODENAME="n1")
    equal(out, "x\n", "on n1")
    for nodes in (["-N1", "-wn2"], ["-N2", "-wn2,n3"]):
        _, err = job.srun(*nodes, PROGRAM, "-N1", "touch", "x", code=1,
                          SLURMD_NODENAME="n1")
        check("another node" in err, err)
    check(not (job.work / "x").exists(), "a task has run")


@case
def stdin():
    """stdin goes to all tasks, to one, or to none"""
    text = "".join(f"line {n}\n" for n in range(50_000))
    digest = hashlib.sha256(text.encode()).hexdigest()
    out, _ = job.srun("-n8", "sha256sum", stdin=text)
    equal(out.split(), [digest, "-"] * 8, "all")
    out, _ = job.srun("-n8", "-l", "-i", "5", "wc", "-l", stdin=text)
    equal(sorted(out.splitlines()),
          sorted(f"{n}: {50_000 if n == 5 else 0}" for n in range(8)), "one")
    out, _ = job.srun("-n4", "-i", "none", "wc", "-l", stdin=text)
    equal(out.split(), ["0"] * 4, "none")
    (job.work / "input").write_text("from a file\n")
    out, _ = job.srun("-n4", "-i", "input", "cat")
    equal(out, "from a file\n" * 4, "a file")
    # Tasks that do not read do not hold up the others.
    out, _ = job.srun("-n4", "sh", "-c", "[ $SLURM_PROCID = 1 ] || cat",
                      stdin=text)
    equal(len(out.splitlines()), 150_000, "three of four")


@case
def stdin_unread():
    """input that tasks leave unread loses nothing that they wrote"""
    size = 2_000_000
    for nodes in ("n1", "n2") * 5:
        with open("/dev/zero", "rb") as zeros:
            step = job.start("-N1", "-w", nodes, "sh", "-c",
                             f"head -c {size} /dev/zero | tr '\\0' x",
                             stdin=zeros)
            time.sleep(0.3)  # all is on its way when the tasks have ended
            out, err = step.communicate(timeout=60)
        equal((step.returncode, len(out), err), (0, size, ""), nodes)


@case
def files():
    """output goes to files of srun's, of the nodes and of the tasks"""
    job.srun("-n4", "-o", "out-%j", "sh", "-c", "echo $SLURM_PROCID; echo e >&2")
    text = (job.work / f"out-{JOB}").read_text().split()
    equal(sorted(text), ["0", "1", "2", "3", "e", "e", "e", "e"], "one file")
    job.srun("-n4", "-o", "task-%2t", "-e", "none", "sh", "-c",
             "echo $SLURM_PROCID; echo e >&2")
    for n in range(4):
        equal((job.work / f"task-0{n}").read_text(), f"{n}\n", f"task {n}")
    job.srun("-n8", "-o", "node-%N", "echo", "x")
    equal((job.work / "node-n2").read_text(), "x\nx\n", "a node's")
    job.srun("-n4", "--open-mode=append", "-o", "task-%2t", "echo", "y")
    equal((job.work / "task-03").read_text(), "3\ny\n", "appended")
    out, _ = job.srun("-n4", "-o", "2", "sh", "-c", "echo $SLURM_PROCID")
    equal(out, "2\n", "of one task")
    job.srun("-n4", "-o", "new/a/%t", "-e", "new/b/all", "sh", "-c",
             "echo $SLURM_PROCID; echo e >&2")
    equal((job.work / "new/a/3").read_text(), "3\n", "in a new directory")
    equal((job.work / "new/b/all").read_text(), "e\n" * 4, "of all tasks")
    _, err = job.srun("-n4", "-o", f"{PROGRAM}/%t", "true", code=1)
    check(f"Could not open file {PROGRAM}/3: Not a directory" in err, err)
    _, err = job.srun("-n4", "-o", f"{PROGRAM}/x", "true", code=1)
    check(f"Could not open file {PROGRAM}/x: Not a directory" in err, err)
    _, err = job.srun("-N1", "-o", "/dev/full", "sh", "-c",
                      "trap '' TERM; echo x", code=1)
    check("Could not write the output of tasks: No space left" in err, err)


@case
def descriptors():
    """tasks have none of the script's open files, nor has what serves them"""
    with open(job.work / "lock", "w") as lock:
        number = lock.fileno()
        step = subprocess.Popen(
            [PROGRAM, "-n4", "sh", "-c", f"ls -l /proc/$$/fd/{number}; "
             "ls -l /proc/$PPID/fd"], cwd=job.work, env=job.environment(),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
            stderr=subprocess.DEVNULL, pass_fds=[number])
        out, _ = step.communicate(timeout=20)
    check("/dev/null" in out, out)
    check(str(job.work / "lock") not in out, out)


@case
def big_output():
    """100 MB of all tasks come through whole, in whole lines and bounded memory"""
    lines, tasks = 260_000, 8
    script = "import os, sys\n" \
             "mark = os.environ['SLURM_PROCID'] + 'x' * 48\n" \
             f"for n in range({lines}): sys.stdout.write(mark + '\\n')\n"
    step = job.start(f"-n{tasks}", sys.executable, "-c", script)
    counts, seen = {}, 0
    for line in step.stdout:
        counts[line] = counts.get(line, 0) + 1
        seen += 1
        if seen == lines * (tasks - 1):  # this end is the slowest of all
            status = pathlib.Path(f"/proc/{step.pid}/status").read_text()
            peak = int(re.search(r"VmHWM:\s*(\d+)", status)[1])
            check(peak < 30_000, f"{peak} kB")
    equal(step.wait(60), 0, "exit code")
    equal(counts, {str(n) + "x" * 48 + "\n": lines for n in range(tasks)},
          "lines")


@case
def one_place():
    """lines are whole where stdout and stderr are one pipe"""
    script = "import os, sys\n" \
             "for n in range(3000):\n" \
             "    os.write(1, b'out ' + b'o' * 60 + b'\\n')\n" \
             "    os.write(2, b'err ' + b'e' * 50 + b'\\n')\n"
    step = job.start("-n4", sys.executable, "-c", script,
                     stderr=subprocess.STDOUT)
    counts = {}
    for line in step.communicate(timeout=60)[0].splitlines():
        counts[line] = counts.get(line, 0) + 1
    equal(step.returncode, 0, "exit code")
    equal(counts, {"out " + "o" * 60: 12_000, "err " + "e" * 50: 12_000},
          "lines")


@case
def two_pipes():
    """no other program's line comes between those that srun writes"""
    reading, writing = os.pipe()
    script = "for n in range(4000): print('x' * 60)\n"
    other = subprocess.Popen(
        [sys.executable, "-c", "import os\n"
         "for n in range(4000): os.write(1, b'y' * 50 + b'\\n')\n"],
        stdout=writing)
    step = subprocess.Popen([PROGRAM, "-N1", sys.executable, "-c", script],
                            cwd=job.work, env=job.environment(), stdout=writing,
                            stdin=subprocess.DEVNULL)
    os.close(writing)
    with open(reading) as lines:
        kinds = set(lines)
    equal((other.wait(20), step.wait(20)), (0, 0), "exit codes")
    equal(kinds, {"x" * 60 + "\n", "y" * 50 + "\n"}, "lines")


@case
def unbuffered():
    """-u lets output without a line's end through, and a last line is kept"""
    step = job.start("-N1", "-u", "sh", "-c", "printf half; read x; echo",
                     stdin=subprocess.PIPE)
    equal(step.stdout.read(4), "half", "before the line's end")
    step.communicate("go\n", timeout=20)
    out, _ = job.srun("-N1", "printf", "no end")
    equal(out, "no end", "a last line")


@case
def many_tasks():
    """64 tasks on each of 4 nodes"""
    out, _ = job.srun("-O", "-n256", "sh", "-c", "echo $SLURM_PROCID")
    equal(sorted(map(int, out.split())), list(range(256)), "tasks")


@case
def limits():
    """tasks have srun's soft limits, and may be more than these allow"""
    few = soft_limit(resource.RLIMIT_NOFILE, 64)
    few(job.workers[1].pid)
    for node in ("n1", "n2"):
        step = job.start("-O", "-N1", "-n60", "-w", node, "sh", "-c",
                         "ulimit -n", before=few)
        out, err = step.communicate(timeout=60)
        equal((step.returncode, out, err), (0, "64\n" * 60, ""), node)
    many = soft_limit(resource.RLIMIT_NOFILE, 100)
    core = soft_limit(resource.RLIMIT_CORE, 0)
    step = job.start("-N2", "sh", "-c", "echo $(ulimit -n) $(ulimit -c)",
                     before=lambda: (many(), core()))
    out, err = step.communicate(timeout=20)
    equal((step.returncode, out), (0, "100 0\n" * 2), err)
    job.stop_worker(1)
    job.start_worker(1)


@case
def ignored_children():
    """a script that ignores SIGCHLD can call srun"""
    step = job.start("-N2", "-wn1,n2", "echo", "x", before=lambda:
                     signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    out, err = step.communicate(timeout=20)
    equal((step.returncode, out), (0, "x\n" * 2), err)


@case
def interrupt():
    """Ctrl-C says which tasks run, and twice ends them"""
    mark = sleep_mark()
    step = job.start("-n4", "sleep", mark)
    started(mark, 4)
    step.send_signal(signal.SIGINT)
    line = step.stderr.readline()
    check("interrupt (one more within 1 sec to abort)" in line, line)
    line = step.stderr.readline()
    check(re.search(rf"StepId={JOB}\.\d+ tasks 0-3: running", line), line)
    for _ in range(50):  # each within a second of the one before
        step.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            step.wait(0.3)
            break
    _, err = step.communicate(timeout=20)
    check(step.returncode in (130, 137, 143), f"{step.returncode}: {err}")
    check("forcing job termination" in err, err)
    gone(mark)


@case
def signals():
    """other signals go to the tasks, and SIGTERM ends them: also the deaf ones"""
    mark = sleep_mark()
    step = job.start("-n4", "sh", "-c",
                     "trap 'echo usr1; exit 4' USR1; "
                     f"sleep {mark} & echo up; wait")
    for _ in range(4):
        equal(step.stdout.readline(), "up\n", "a start")
    step.send_signal(signal.SIGUSR1)
    out, _ = step.communicate(timeout=20)
    equal((out, step.returncode), ("usr1\n" * 4, 4), "SIGUSR1")
    gone(mark)  # what tasks leave behind is ended with the step

    step = job.start("-n4", "sh", "-c",
                     f"trap '' TERM; sleep {mark} & echo up; "
                     "while :; do wait; done")
    for _ in range(4):
        equal(step.stdout.readline(), "up\n", "a start")
    step.send_signal(signal.SIGTERM)
    step.communicate(timeout=30)
    equal(step.returncode, 137, "SIGKILL after KillWait")
    gone(mark)


@case
def continued():
    """SIGCONT is for srun itself"""
    step = job.start("-n4", "sh", "-c", "trap 'echo cont' CONT; "
                     "trap 'exit 0' USR1; echo up; while :; do sleep 0.1; done")
    for _ in range(4):
        equal(step.stdout.readline(), "up\n", "a start")
    step.send_signal(signal.SIGSTOP)
    step.send_signal(signal.SIGCONT)
    time.sleep(0.5)  # for what must not come
    step.send_signal(signal.SIGUSR1)
    out, err = step.communicate(timeout=20)
    equal((out, step.returncode), ("", 0), err)


@case
def bad_exit():
    """-K ends all when one fails, -W when one has ended"""
    mark = sleep_mark()
    _, err = job.srun("-n4", "-K", "sh", "-c",
                      f"[ $SLURM_PROCID != 3 ] || exit 5; exec sleep {mark}",
                      code=143)
    check("n4: task 3: Exited with exit code 5" in err, err)
    check(f"Terminating StepId={JOB}." in err, err)
    gone(mark)
    _, err = job.srun("-n4", "-W1", "sh", "-c",
                      f"[ $SLURM_PROCID = 1 ] || exec sleep {mark}", code=137)
    check("First task exited 1s ago" in err, err)
    gone(mark)


@case
def srun_killed():
    """tasks end with their srun, on all nodes"""
    mark = sleep_mark()
    step = job.start("-n8", "sleep", mark)
    started(mark, 8)
    step.kill()
    step.communicate(timeout=20)
    gone(mark)
    job.srun("-n4", "true")


@case
def reader_gone():
    """tasks end when nobody reads their output any more"""
    done = subprocess.run(f"'{PROGRAM}' -n4 yes | head -n 1", shell=True,
                          cwd=job.work, env=job.environment(), timeout=60,
                          text=True, capture_output=True)
    equal(done.stdout, "y\n", done.stderr)


@case
def worker_killed():
    """a worker that ends takes the step with it, unless told otherwise"""
    mark = sleep_mark()
    step = job.start("-n4", "sleep", mark)
    started(mark, 4)
    job.stop_worker(2)
    _, err = step.communicate(timeout=30)
    check(step.returncode in (1, 143), f"{step.returncode}: {err}")
    gone(mark)

    job.write_hosts(range(NODES))
    began = time.monotonic()
    _, err = job.srun("-n4", "true", code=1, SLURMK8S_STEP_WAIT="8")
    check("n3 (127.0.0.3): Connection refused" in err, err)
    check("waiting for the Pod on n3" in err, err)
    check(time.monotonic() - began < 60, "its limit")
    job.start_worker(2)
    job.srun("-n4", "true")


@case
def no_limit():
    """srun waits for Pods without a limit, says so, and ends by a signal"""
    job.write_hosts([0, 1])
    steps = [job.start("-n4", "echo", "x", SLURMK8S_STEP_WAIT="")
             for _ in range(2)]
    for step in steps:
        line = step.stderr.readline()
        equal(line, "srun: waiting until all Pods of this job run: "
              "2 of 4 Pods have no address yet\n", "words")
    steps[0].terminate()
    equal(steps[0].wait(20), -signal.SIGTERM, "the end of one")
    job.write_hosts(range(NODES))
    out, err = steps[1].communicate(timeout=20)
    equal((out, steps[1].returncode), ("x\n" * 4, 0), err)
    for name in ("SLURMK8S_STEP_WAIT", "SLURMK8S_KILL_WAIT"):
        _, err = job.srun("true", code=1, **{name: "5m"})
        check(f"{name}=5m is not a number of seconds" in err, err)


@case
def step_process_killed():
    """a node that stops answering is a failed node"""
    mark = sleep_mark()
    step = job.start("-n4", "sleep", mark)
    started(mark, 4)
    os.kill(children_of(job.workers[2].pid)[-1], signal.SIGKILL)
    _, err = step.communicate(timeout=30)
    check("Node failure on n3" in err, err)
    equal(step.returncode, 143, "exit code")
    gone(mark)


@case
def leftovers():
    """what tasks have left ends also with a step process that is killed"""
    for node in ("n1", "n2"):
        left, own = sleep_mark(), sleep_mark()
        # What a script that becomes srun has started is not the step's.
        step = subprocess.Popen(
            ["sh", "-c", "(sleep $OWN; :) >/dev/null 2>&1 & "
             f"exec '{PROGRAM}' -N1 -w{node} "
             "sh -c 'setsid sleep $LEFT & echo; wait'"], text=True,
            cwd=job.work, env=job.environment(OWN=own, LEFT=left),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)
        started(left, 1)
        started(own, 1)
        step.stdout.readline()
        # Nor what that has left in turn.
        job_of_script = parent_of(processes_with(own)[0])
        check(job_of_script in children_of(step.pid), "the script's job")
        os.kill(job_of_script, signal.SIGKILL)
        server = parent_of(parent_of(processes_with(left)[0]))
        equal(os.readlink(f"/proc/{server}/exe"), str(PROGRAM), "the server")
        os.kill(server, signal.SIGKILL)
        _, err = step.communicate(timeout=30)
        check(f"Node failure on {node}" in err, err)
        gone(left)
        alone = processes_with(own)
        equal(len(alone), 1, "the script's own")
        os.kill(alone[0], signal.SIGKILL)


@case
def unread_output():
    """a worker has no time limit for output that nobody reads"""
    mark = sleep_mark()
    step = job.start("-N1", "-wn2", "sleep", mark)
    started(mark, 1)
    server = children_of(job.workers[1].pid)[-1]
    limits = [copy.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
              for copy in sockets_of(server)]
    equal(limits, [0], "the worker's")
    limits = [copy.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
              for copy in sockets_of(step.pid)]
    equal(limits, [60_000], "srun's")
    step.send_signal(signal.SIGTERM)
    step.communicate(timeout=20)


@case
def full_terminal():
    """signals count although a terminal takes no output"""
    ours, theirs = pty.openpty()
    heard, mark = job.work / "heard", sleep_mark()
    step = subprocess.Popen(
        [PROGRAM, "-N1", "sh", "-c", f"trap 'echo >{heard}; exit 7' USR1; "
         f"yes {mark} & wait"], cwd=job.work, env=job.environment(),
        stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.DEVNULL)
    os.close(theirs)
    job.steps.append(step)
    output_stands_still(mark)
    step.send_signal(signal.SIGUSR1)
    wait_for("the signal", heard.exists, 20)
    os.close(ours)
    equal(step.wait(20), 7, "exit code")


@case
def full_pipe():
    """Ctrl-C ends tasks although a pipe takes nothing, and srun's words wait"""
    reading, writing = os.pipe()
    mark = sleep_mark()
    step = subprocess.Popen([PROGRAM, "-N2", "yes", mark], cwd=job.work,
                            env=job.environment(), stdin=subprocess.DEVNULL,
                            stdout=writing, stderr=writing)
    os.close(writing)
    job.steps.append(step)
    output_stands_still(mark)
    for _ in range(50):  # each within a second of the one before
        step.send_signal(signal.SIGINT)
        time.sleep(0.3)
        if not processes_with(mark):
            break
    gone(mark)
    with open(reading) as pipe:
        words = [line for line in pipe if mark not in line]
    code = step.wait(20)
    check(code in (130, 137, 143), f"{code}: {words}")
    check("srun: forcing job termination\n" in words, words)


@case
def hosts_late():
    """srun waits for the addresses of its job's Pods"""
    job.write_hosts([0, 1])
    step = job.start("-n4", "echo", "x")
    never("a step without its nodes", lambda: step.poll() is not None, 1)
    job.write_hosts(range(NODES))
    out, err = step.communicate(timeout=30)
    equal((out, step.returncode), ("x\n" * 4, 0), err)
    job.write_hosts([0, 1])
    _, err = job.srun("-n4", "true", code=1, SLURMK8S_STEP_WAIT="1")
    check("2 of 4 Pods have no address yet" in err, err)
    # Who needs no other node asks nobody, nor does a job of one node.
    out, _ = job.srun("-N1", "echo", "x")
    equal(out, "x\n", "srun's own node")
    out, _ = job.srun("echo", "x", SLURM_JOB_NUM_NODES="1",
                      SLURM_JOB_NODELIST="n1", SLURM_JOB_CPUS_PER_NODE="4")
    equal(out, "x\n", "one node")
    job.write_hosts(range(NODES))


@case
def wrong_key():
    """neither side takes another key"""
    other = job.directory / "other"
    other.mkdir()
    (other / "step.key").write_text(secrets.token_hex(32))
    job.stop_worker(3)
    job.start_worker(3, directory=other)
    _, err = job.srun("-n4", "touch", "x", code=1)
    check("rejects this job's key" in err, err)
    check(not (job.work / "x").exists(), "a task has run")
    line = job.workers[3].stderr.readline()
    check("does not know this job's key" in line, line)
    job.stop_worker(3)
    job.start_worker(3)
    (other / "step.key").write_text("nonsense")
    bad = subprocess.run([PROGRAM, "--worker", "--listen=127.0.0.9"], text=True,
                         env=job.environment(SLURMK8S_STEP_DIR=str(other)),
                         capture_output=True, timeout=20)
    equal(bad.returncode, 1, "a worker without a key")


@case
def all_addresses():
    """a worker that listens at all addresses, as in a Pod, is met by IPv4"""
    port = str(free_port())
    environment = job.environment(SLURMK8S_STEP_PORT=port)
    with subprocess.Popen([PROGRAM, "--worker"], env=environment, text=True,
                          stderr=subprocess.PIPE) as worker:
        line = worker.stderr.readline()
        check("waiting for steps" in line, line)
        out, _ = job.srun("-N1", "-wn2", "echo", "x", SLURMK8S_STEP_PORT=port)
        worker.terminate()
    equal((out, worker.returncode), ("x\n", 0), "a step")


@case
def relay():
    """nobody passes on to a worker what srun says to another one"""
    job.stop_worker(2)
    between = Relay((job.address(2), job.port), (job.address(1), job.port))
    _, err = job.srun("-N1", "-wn3", "touch", "x", code=1)
    between.end()
    check("n3 (127.0.0.3): the worker rejects" in err, err)
    check(not (job.work / "x").exists(), "a task has run")
    job.start_worker(2)
    job.srun("-N1", "-wn3", "true")


@case
def strangers():
    """callers that say nothing, or nonsense, keep nobody out"""
    with contextlib.ExitStack() as stack:
        callers = [stack.enter_context(
            socket.create_connection((job.address(1), job.port), 20))
            for _ in range(200)]
        job.srun("-n4", "true")
        for caller in callers[150:]:
            with contextlib.suppress(OSError):
                caller.sendall(secrets.token_bytes(4096))
        job.srun("-n4", "true")
        hello = callers[199].recv(200)
        check(len(hello) <= 80, f"{len(hello)} bytes for a stranger")
    check(job.workers[1].poll() is None, "the worker has ended")


@case
def worker_ends():
    """SIGTERM ends a worker and its tasks"""
    mark = sleep_mark()
    step = job.start("-N1", "-wn2", "sleep", mark)
    started(mark, 1)
    job.stop_worker(1)
    _, err = step.communicate(timeout=20)
    equal(step.returncode, 143, "exit code")
    check(re.fullmatch(
        rf"srun: error: \*\*\* STEP {JOB}\.\d+ ON n2 CANCELLED AT "
        r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ DUE to SIGNAL Terminated \*\*\*\n"
        r"srun: Job step aborted: Waiting up to 22 seconds for job step to "
        r"finish\.\n", err), err)
    gone(mark)
    job.start_worker(1)
    # Also when nobody reads what they have written.
    step = job.start("-N1", "-wn2", "yes", mark)
    started(mark, 1)
    written = pathlib.Path(f"/proc/{processes_with(mark)[0]}/io")
    wait_for("output that stands still", lambda: stands_still(written), 20)
    job.stop_worker(1)
    step.kill()
    step.communicate(timeout=20)
    gone(mark)
    job.start_worker(1)


try:
    run()
finally:
    job.end()
