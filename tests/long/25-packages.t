#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The Debian packages: makes them, and installs, upgrades and purges them in
roots that have Slurm and are thrown away. PACKAGES_BUILD=no takes those that are
in $SANDBOX/packages."""
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from tap import case, check, equal, run

TOP = pathlib.Path(__file__).resolve().parents[2]
PACKAGES = pathlib.Path(os.environ["SANDBOX"]) / "packages"
PLUGINS = "/usr/lib/x86_64-linux-gnu/slurm-wlm"
NAMES = ["slurm-k8s-bridge-common", "slurm-k8s-plugins",
         "slurm-k8s-plugins-slurmd", "slurm-k8s-spank", "slurmk8s", "slurmk8s-operator",
         "slurmk8sd"]

# Every root begins with this. The sandbox's root leaves out documentation; what
# a package has, is to be seen here.
BEGIN = f"""
export DEBIAN_FRONTEND=noninteractive
rm -f /etc/dpkg/dpkg.cfg.d/sandbox
mkdir -p /tmp/repository
packages={PACKAGES}
plugins={PLUGINS}
install_packages() {{ apt-get -qq -o Dpkg::Use-Pty=0 install --no-install-recommends "$@"; }}

# remade DEB SED: the package with its control changed, in the repository.
remade() {{
    rm -rf /tmp/remade
    dpkg-deb -R "$1" /tmp/remade
    sed -i "$2" /tmp/remade/DEBIAN/control
    dpkg-deb --root-owner-group -Znone -b /tmp/remade /tmp/repository > /dev/null
}}

# fake PACKAGE SED: a package without files, with the control of the installed one, changed.
fake() {{
    rm -rf /tmp/fake
    mkdir -p /tmp/fake/DEBIAN
    dpkg-query -s "$1" | sed -e '/^Status:/d; /^Conffiles:/,/^[^ ]/{{/^Conffiles:/d; /^ /d}}' -e "$2" > /tmp/fake/DEBIAN/control
    dpkg-deb --root-owner-group -Znone -b /tmp/fake /tmp/repository > /dev/null
}}

# Nobody but the repository.
repository() {{
    rm -rf /etc/apt/sources.list /etc/apt/sources.list.d/*
    echo 'deb [trusted=yes] file:/tmp/repository ./' > /etc/apt/sources.list.d/test.list
    (cd /tmp/repository && dpkg-scanpackages -m . > Packages 2> /dev/null)
    apt-get -qq update
}}

slurm_packages() {{ dpkg-query -W -f '${{source:Package}} ${{Package}}\\n' | sed -n 's/^slurm-wlm //p'; }}

# Everything in the root that is not dpkg's or apt's own business.
all_files() {{
    find / -xdev '(' -path /proc -o -path /dev -o -path /tmp -o -path /var/lib/dpkg -o -path /var/lib/apt -o -path /var/cache \\
        -o -path /var/log -o -path /usr/src -o -path /root ')' -prune -o -print | sort
}}
"""

# Those of the release after this one.
NEXT = """
for package in "$packages"/*.deb; do remade "$package" 's/0\\.1\\.0-1/0.1.1-1/g'; done
"""


def in_root(script, fails=False):
    """What the script says, in a root of its own."""
    done = subprocess.run(
        [str(TOP / "contribs/sandbox/with-packaging"), "bash", "-euo", "pipefail",
         "-c", BEGIN + script], text=True, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, timeout=600)
    check((done.returncode != 0) == fails, f"exit status {done.returncode}: "
          f"{done.stdout[-4000:]}")
    return done.stdout


def packages():
    """The paths of all packages by their names."""
    found = {path.name.partition("_")[0]: path for path in PACKAGES.glob("*.deb")}
    check(found, f"no packages in {PACKAGES}")
    return found


def field(package, name):
    return in_root(f"dpkg-deb -f {packages()[package]} {name}").strip()


def files(package):
    """The paths of its files, with what tar says of each."""
    listing = in_root(f"dpkg-deb -c {packages()[package]}")
    return {line.split()[5].removeprefix("."): line
            for line in listing.splitlines() if not line.startswith("d")}


def slurm_version():
    """Of the Slurm in the root: 26.05.5."""
    said = in_root("dpkg-query -W -f '${source:Upstream-Version}' libslurm-dev")
    return said.strip()


def next_micro(version):
    release, _, micro = version.rpartition(".")
    return f"{release}.{int(micro) + 1}"


@case
def made():
    """all packages are made"""
    if os.environ.get("PACKAGES_BUILD") != "no":
        done = subprocess.run([str(TOP / "contribs/debian/build")], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        equal(done.returncode, 0, done.stdout[-4000:])
    equal(sorted(packages()), NAMES, "packages")
    for path in packages().values():
        print(f"# {path.name}: {path.stat().st_size // 1024} KiB", flush=True)


@case
def lintian():
    """lintian has no errors and no warnings"""
    said = in_root("lintian --allow-root --fail-on=error,warning "
                   "--suppress-tags=initial-upload-closes-no-bugs $packages/*.changes")
    print("".join(f"# {line}\n" for line in said.splitlines()), end="")


@case
def dependencies():
    """the plugins fit exactly the micro release of Slurm that they were built for"""
    version = slurm_version()
    later = next_micro(version)
    for package, slurm in (("slurm-k8s-plugins", "slurmctld"),
                           ("slurm-k8s-plugins-slurmd", "slurm-wlm-basic-plugins")):
        said = field(package, "Depends")
        for word in (f"{slurm} (>= {version})", f"{slurm} (<< {later}~)"):
            check(word in said, f"{package}: no {word!r} in {said!r}")
        check(field(package, "Version").endswith(f"+slurm{version}"), package)
    release = version.rpartition(".")[0]
    said = field("slurm-k8s-spank", "Depends")
    check(f"slurm-client (>= {release})" in said, said)
    check("slurm" not in field("slurm-k8s-bridge-common", "Depends"), "common")


@case
def contents():
    """no file is in two packages, all belong to root, none is too large"""
    owner = {}
    for package in NAMES:
        for path, line in files(package).items():
            check(path not in owner, f"{path}: {owner.get(path)} and {package}")
            owner[path] = package
            check("root/root" in line, line)
    for name, package in (("prep_k8s", "slurm-k8s-plugins-slurmd"),
                          ("node_features_k8s", "slurm-k8s-plugins-slurmd"),
                          ("job_submit_k8s", "slurm-k8s-plugins"),
                          ("burst_buffer_k8s", "slurm-k8s-plugins"),
                          ("spank_k8s", "slurm-k8s-spank")):
        equal(owner[f"{PLUGINS}/{name}.so"], package, name)
    total = sum(path.stat().st_size for path in packages().values())
    check(total < 20e6, f"{total} bytes")


@case
def fresh():
    """they install, nothing is enabled, and nobody gets an example's address"""
    said = in_root("""
        install_packages "$packages"/*.deb
        ! grep -E '^[^#]*(192\\.0\\.2|example\\.)' /etc/slurm/k8s.conf
        ! slurmk8sd -t
        stat -c '%U:%G %a' /etc/slurm/k8s
        systemd_links=$(find /etc/systemd -name 'slurmk8s*')
        [[ ! $systemd_links ]]
        slurmk8s --version
        kubectl-slurm --version
        slurmk8s check || echo "check: $?"
        man -w slurmk8s kubectl-slurm k8s.conf slurmk8sd
        zsh -n /usr/share/zsh/vendor-completions/_slurmk8s
        zsh -fc 'autoload -Uz compinit; compinit -u -D; print "zsh: $_comps[slurmk8s]"'
        test -e "$(sed -n 's/^interest-noawait //p' /var/lib/dpkg/info/slurmk8sd.triggers)"
        test -e /usr/share/doc/slurm-k8s-bridge/doc/admin/../../contribs/kubernetes/README.md
        kubectl kustomize /usr/share/slurm-k8s-bridge/kubernetes/all | grep -c '^kind:'
        """)
    check("root:slurm 750" in said, said)
    check("systemctl enable --now slurmk8sd" in said, said)
    check("k8s.conf has no KubeApiServer" in said, said)
    check("zsh: _slurmk8s" in said, said)


@case
def purged():
    """purge leaves nothing"""
    in_root("""
        all_files > /tmp/before
        install_packages "$packages"/*.deb
        echo secret > /etc/slurm/k8s/token
        echo "KubeApiServer=https://10.0.0.1" >> /etc/slurm/k8s.conf
        all_files > /tmp/installed
        ! cmp -s /tmp/before /tmp/installed
        apt-get -qq -o Dpkg::Use-Pty=0 purge 'slurm-k8s*' slurmk8s slurmk8sd
        all_files > /tmp/after
        diff /tmp/before /tmp/after
        """)


@case
def hosts():
    """a host of slurmd needs one package, a login node two, a workstation one"""
    in_root("""
        repository_of() { cp "$packages"/*.deb /tmp/repository; repository; }
        repository_of
        apt-get -qq purge slurmctld slurmdbd > /dev/null 2>&1
        apt-get -s --no-install-recommends install slurm-k8s-plugins-slurmd > /tmp/said
        grep -q '^Inst slurm-k8s-plugins-slurmd ' /tmp/said
        [[ $(grep -c '^Inst' /tmp/said) == 1 ]]
        apt-get -s --no-install-recommends install slurm-k8s-spank slurmk8s > /tmp/said
        [[ $(grep -c '^Inst' /tmp/said) == 2 ]]
        apt-get -s --no-install-recommends install slurm-k8s-bridge-common > /tmp/said
        [[ $(grep -c '^Inst' /tmp/said) == 1 ]]
        """)


@case
def another_micro_release():
    """apt never has Slurm of another micro release beside the plugins"""
    version = slurm_version()
    later = next_micro(version)
    said = in_root(f"""
        install_packages "$packages"/*.deb
        for name in $(slurm_packages); do fake $name 's/{version}-/{later}-/g'; done
        ls /tmp/repository
        repository
        echo "== upgrade"; apt-get -s upgrade
        echo "== dist-upgrade"; apt-get -s dist-upgrade
        echo "== install"; apt-get -s install slurmctld={later}-1 || echo refused
        # An older one too.
        for name in $(slurm_packages); do fake $name 's/{version}-/26.05.4-/g'; done
        repository
        echo "== downgrade"; apt-get -s --allow-downgrades install slurmctld=26.05.4-1 || echo refused
        """)
    parts = dict(re.findall(r"^== (\S+)\n(.*?)(?=^== |\Z)", said, re.M | re.S))
    check(f"slurmctld_{later}-1" in said, said)
    check("Inst slurmctld" not in parts["upgrade"], parts["upgrade"])
    check("slurmctld" in parts["upgrade"].partition("kept back")[2],
          parts["upgrade"])
    for name, text in parts.items():
        if "Inst slurmctld" in text:
            check("Remv slurm-k8s-plugins " in text, f"{name}: {text}")
        print(f"# {name}: " + ("Slurm stays" if "Inst slurmctld" not in text
                               else "the plugins would go"))


@case
def next_micro_release():
    """Slurm's next micro release comes together with plugins for it"""
    version = slurm_version()
    later = next_micro(version)
    after = next_micro(later)
    said = in_root(f"""
        install_packages "$packages"/*.deb
        for name in $(slurm_packages); do fake $name 's/{version}-/{later}-/g'; done
        for package in "$packages"/slurm-k8s-*slurm{version}*.deb; do
            remade "$package" 's/{later}~/{after}~/g; s/{version}\\b/{later}/g'
        done
        repository
        echo "== upgrade"; apt-get -s upgrade
        echo "== dist-upgrade"; apt-get -s dist-upgrade
        """)
    parts = dict(re.findall(r"^== (\S+)\n(.*?)(?=^== |\Z)", said, re.M | re.S))
    for name, text in parts.items():
        for package in ("slurmctld", "slurmd", "slurm-k8s-plugins",
                        "slurm-k8s-plugins-slurmd", "slurm-k8s-spank"):
            check(f"Inst {package} " in text, f"{name}: {package}: {text}")
        check("Remv" not in text, f"{name}: {text}")
        # slurmctld starts when it is configured: the plugins have to be there.
        unpacked = max(text.index(f"Inst {p} ") for p in
                       ("slurm-k8s-plugins", "slurm-k8s-plugins-slurmd"))
        check(unpacked < text.index("Conf slurmctld "),
              f"{name}: slurmctld starts before its plugins are there: {text}")


# slurmctld of the root, alone on a network without anything else.
SLURMCTLD = """
ip link set lo up
ip address add 10.0.0.1/32 dev lo                # getaddrinfo() wants one that is not 127.0.0.1
echo "127.0.0.1 localhost $(hostname)" > /etc/hosts
mkdir -p /run/slurmctld /var/lib/slurm/state
(umask 077; openssl rand 1024 > /etc/slurm/slurm.key)
chown slurm:slurm /run/slurmctld /var/lib/slurm/state /etc/slurm/slurm.key
cat > /etc/slurm/slurm.conf <<CONF
ClusterName=test
SlurmctldHost=$(hostname)(127.0.0.1)
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmUser=slurm
AuthType=auth/slurm
CredType=cred/slurm
StateSaveLocation=/var/lib/slurm/state
SlurmctldPidFile=/run/slurmctld/slurmctld.pid
ProctrackType=proctrack/linuxproc
JobSubmitPlugins=k8s
PrEpPlugins=prep/k8s
NodeFeaturesPlugins=k8s
BurstBufferType=burst_buffer/k8s
MaxNodeCount=10
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
NodeName=n1 CPUs=1 State=CLOUD
PartitionName=p Nodes=n1 Default=YES
CONF
echo 'CgroupPlugin=disabled' > /etc/slurm/cgroup.conf
begin() {
    slurmctld -D > /tmp/slurmctld.log 2>&1 &
    pid=$!
    for ((i = 0; i < 300; i++)); do
        scontrol ping 2> /dev/null | grep -q ' UP$' && return
        kill -0 $pid || break
        sleep 0.1
    done
    cat /tmp/slurmctld.log
    return 1
}
serves() { kill -0 $pid && scontrol ping | grep ' UP$'; }
ends() { kill $pid; wait $pid || true; }
"""

# A slurmd, and a job from sbatch to its end.
JOB = """
cat >> /etc/slurm/slurm.conf <<CONF
SlurmdUser=root
SlurmdParameters=config_overrides
SlurmdSpoolDir=/var/lib/slurm/slurmd
NodeName=native NodeHostname=$(hostname) NodeAddr=127.0.0.1 CPUs=1 RealMemory=100
PartitionName=native Nodes=native
CONF
job_runs() {
    local job i
    job=$(sbatch --parsable --partition=native --chdir=/tmp --output=job.out --wrap='echo "the job ran"')
    for ((i = 0; i < 600; i++)); do
        scontrol show job $job | grep -q JobState=COMPLETED && { cat /tmp/job.out; return; }
        sleep 0.1
    done
    scontrol show job $job
    tail -n 30 /tmp/slurmctld.log /tmp/slurmd.log
    return 1
}
"""


def alone(script):
    """The script in a root with a network of its own."""
    return "unshare --net bash -euo pipefail <<'ALONE'\n" + BEGIN + SLURMCTLD + \
        script + "\nALONE\n"


@case
def upgraded_under_slurmctld():
    """an upgrade under a running slurmctld leaves it at work; back again, too"""
    said = in_root(NEXT + alone("""
        install_packages "$packages"/*.deb
        begin
        grep -o "$plugins/.*k8s.so" /proc/$pid/maps | sort -u
        install_packages /tmp/repository/*_0.1.1-1*.deb
        grep -o "$plugins/.*k8s.so (deleted)" /proc/$pid/maps | sort -u
        serves
        ends; begin; serves
        ! grep -q 'deleted' /proc/$pid/maps
        install_packages --allow-downgrades "$packages"/*.deb
        serves
        ends; begin; serves; ends
        """))
    for name in ("prep", "job_submit", "burst_buffer", "node_features"):
        check(f"{name}_k8s.so\n" in said, f"{name} is not loaded: {said}")
        check(f"{name}_k8s.so (deleted)" in said, f"{name} has no new file: {said}")
    check("systemctl restart slurmctld" in said, said)


@case
def in_all_daemons():
    """slurmctld, slurmd, slurmstepd and sbatch load what is packaged for them:
    nothing that the linker is to find at once is missing"""
    said = in_root(alone(JOB + """
        install_packages "$packages"/*.deb
        begin
        slurmd -D -N native > /tmp/slurmd.log 2>&1 &
        slurmd=$!
        job_runs
        grep -o "$plugins/.*k8s.so" /proc/$slurmd/maps | sort -u | sed 's/^/slurmd: /'
        sbatch --help | grep k8s-image
        kill $slurmd; wait $slurmd || true
        ends
        """))
    for words in ("the job ran", f"slurmd: {PLUGINS}/prep_k8s.so",
                  f"slurmd: {PLUGINS}/node_features_k8s.so", "--k8s-image"):
        check(words in said, f"no {words!r}: {said}")


@case
def any_order():
    """packages of two releases come one by one, in any order that dpkg allows"""
    said = in_root(NEXT + alone("""
        install_packages "$packages"/*.deb
        begin
        for name in slurm-k8s-bridge-common slurm-k8s-spank slurmk8sd slurm-k8s-plugins; do
            install_packages /tmp/repository/${name}_0.1.1-1*.deb $(
                case $name in
                    slurmk8sd) ls /tmp/repository/slurmk8s_0.1.1-1*.deb ;;
                    slurm-k8s-plugins) ls /tmp/repository/slurm-k8s-plugins-slurmd_0.1.1-1*.deb ;;
                esac)
            serves
            ends; begin; serves
        done
        ends
        dpkg --audit
        """))
    equal(said.count(" UP\n"), 8, said)


@case
def removed_while_named():
    """whoever removes plugins that slurm.conf names is told what will happen"""
    said = in_root(alone("""
        install_packages "$packages"/*.deb
        begin
        apt-get -qq -o Dpkg::Use-Pty=0 remove slurm-k8s-plugins-slurmd
        serves
        ends
        ! begin
        """))
    check("slurm.conf names plugins that go now" in said, said)
    check("PrEpPlugins" in said and "JobSubmitPlugins" in said, said)


run()
