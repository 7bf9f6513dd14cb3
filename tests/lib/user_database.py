# SPDX-License-Identifier: GPL-2.0-or-later
"""A slow user database for the programs of a sandbox. It answers as nscd(8) does:
the C library asks the socket of nscd first, whatever nsswitch.conf says. Who asks
is written down, one line a look-up: the program, and what it asks for."""
import contextlib
import os
import pathlib
import socket
import struct
import subprocess
import sys
import threading
import time

EXEC = pathlib.Path(__file__).resolve().parents[2] / "contribs/sandbox/exec"
DIRECTORY = "/run/nscd"  # the C library's path: nscd-client.h
SOCKET = DIRECTORY + "/socket"
LOG = DIRECTORY + "/asked"
VERSION = 2
USER_BY_NAME, USER_BY_ID, GROUP_BY_NAME, GROUP_BY_ID, GROUPS = 0, 1, 2, 3, 15
NAMES = {USER_BY_NAME: "user", USER_BY_ID: "uid", GROUP_BY_NAME: "group",
         GROUP_BY_ID: "gid", GROUPS: "groups"}


# ---- In a test


@contextlib.contextmanager
def slow(seconds, environment=None):
    """Within the block each look-up in the sandbox takes so long. A program that
    runs already may go on for 100 look-ups without: start it anew. environment is
    that of contribs/sandbox/env, if it is not this program's."""
    daemon = subprocess.Popen(
        [str(EXEC), "python3", "-u", str(pathlib.Path(__file__).resolve()),
         str(seconds)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env=environment)
    try:
        if daemon.stdout.readline().strip() != "ready":
            raise AssertionError("the user database does not start")
        yield
    finally:
        daemon.stdin.close()  # it ends then
        daemon.wait(10)


def asked(program):
    """What programs of a name that begins so have asked for since slow() began,
    oldest first."""
    lines = subprocess.run([str(EXEC), "cat", LOG], check=True, text=True,
                           stdout=subprocess.PIPE).stdout.splitlines()
    return [line.split(" ", 1)[1] for line in lines if line.startswith(program)]


# ---- In the sandbox


def rows(path):
    return [line.split(":") for line in
            pathlib.Path(path).read_text(encoding="utf-8").splitlines()]


def text(*words):
    return [word.encode() + b"\0" for word in words]


def user(column, key):
    """The answer to a look-up in /etc/passwd: a header of nscd, and texts."""
    for row in rows("/etc/passwd"):
        if row[column] == key:
            name, password, uid, gid, gecos, home, shell = row
            parts = text(name, password, gecos, home, shell)
            sizes = [len(part) for part in parts]
            return struct.pack("=iiiiIIiii", VERSION, 1, *sizes[:2], int(uid),
                               int(gid), *sizes[2:]) + b"".join(parts)
    return struct.pack("=iiiiIIiii", VERSION, 0, 0, 0, 0, 0, 0, 0, 0)


def group(column, key):
    for row in rows("/etc/group"):
        if row[column] == key:
            name, password, gid, members = row
            parts = text(name, password)
            people = text(*members.split(",")) if members else []
            return struct.pack(f"=iiiiIi{len(people)}I", VERSION, 1, len(parts[0]),
                               len(parts[1]), int(gid), len(people),
                               *map(len, people)) + b"".join(parts + people)
    return struct.pack("=iiiiIi", VERSION, 0, 0, 0, 0, 0)


def groups(key):
    gids = [int(row[3]) for row in rows("/etc/passwd") if row[0] == key]
    gids += [int(row[2]) for row in rows("/etc/group")
             if key in row[3].split(",")]
    return struct.pack(f"=iii{len(gids)}i", VERSION, 1 if gids else 0, len(gids),
                       *gids)


ANSWERS = {USER_BY_NAME: lambda key: user(0, key),
           USER_BY_ID: lambda key: user(2, key),
           GROUP_BY_NAME: lambda key: group(0, key),
           GROUP_BY_ID: lambda key: group(2, key), GROUPS: groups}


def asker(connection):
    """The name of the program."""
    pid = struct.unpack("iII", connection.getsockopt(
        socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
    return pathlib.Path(os.readlink(f"/proc/{pid}/exe")).name if pid else "?"


def serve(connection, seconds, log):
    with connection:
        head = connection.recv(12, socket.MSG_WAITALL)
        if len(head) < 12:
            return
        _, kind, size = struct.unpack("=iii", head)
        key = connection.recv(size, socket.MSG_WAITALL).rstrip(b"\0").decode()
        if kind not in ANSWERS:
            return  # such as the question for shared memory: there is none
        log.write(f"{asker(connection)} {NAMES[kind]} {key}\n")
        time.sleep(seconds)
        connection.sendall(ANSWERS[kind](key))


def main(seconds):
    os.makedirs(DIRECTORY, exist_ok=True)
    pathlib.Path(SOCKET).unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as listener, \
            open(LOG, "w", buffering=1, encoding="utf-8") as log:
        listener.bind(SOCKET)
        os.chmod(SOCKET, 0o666)
        listener.listen(128)

        def accept():
            while True:
                connection, _ = listener.accept()
                threading.Thread(target=serve, args=(connection, seconds, log),
                                 daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        print("ready", flush=True)
        sys.stdin.read()  # until the test ends
        os.unlink(SOCKET)


if __name__ == "__main__":
    main(float(sys.argv[1]))
