// SPDX-License-Identifier: GPL-2.0-or-later
// Run in a real shell.
#include "agent/batch/launcher.h"

#include "agent/batch/pod.h"

#include "tests/unit/fakes/temporary_directory.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <iterator>

using namespace bridge;

namespace {

std::string read(const std::string &path)
{
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

void replace_all(std::string &text, const std::string &from,
                 const std::string &to)
{
    for (std::size_t at = 0; (at = text.find(from, at)) != text.npos;
         at += to.size())
        text.replace(at, from.size(), to);
}

// A container's file system, as far as a launcher needs it.
struct Container {
    TemporaryDirectory directory;
    std::string out = directory.path + "/o"; // what kubectl logs would have
    std::string err = directory.path + "/e";

    std::string path(const std::string &name) const
    {
        return directory.path + "/" + name;
    }
    // The exit code. more: what the shell runs while the launcher does.
    int run(const BatchScript &batch, const std::vector<std::string> &variables,
            const BatchOutput &output = {}, const BatchOutput &error = {},
            const std::string &more = "", const std::string &input = "",
            const std::string &before_path = "") const
    {
        std::filesystem::create_directories(path("pipes"));
        std::string launcher =
            batch_launcher(batch, variables, output, error, input, before_path);
        replace_all(launcher, "/slurmk8s-pipes", path("pipes"));
        replace_all(launcher, "/slurmk8s-ends", directory.path);
        replace_all(launcher, "/slurmk8s/script", path("script"));
        std::ofstream(path("run")) << launcher;
        std::ofstream(path("script")) << "#!/bin/sh\n" << batch.script;
        std::filesystem::permissions(path("script"),
                                     std::filesystem::perms::owner_all);
        // Of a session of its own, as in a container.
        std::ofstream start(path("start"));
        start << "setsid sh " << path("run") << " > " << out << " 2> " << err
              << " < /dev/null";
        if (!more.empty())
            start << " & job=$!\n" << more << "\nwait $job";
        start << "\n";
        start.close();
        int status = std::system(("sh " + path("start")).c_str());
        return WEXITSTATUS(status);
    }
};

} // namespace

TEST_CASE("the launcher gives the script its environment, whatever is in it")
{
    BatchScript batch;
    batch.work_dir = "/tmp";
    batch.environment = {
        "A=it's \"$HOME\" `id` \\", "B=two\nlines", "PATH=/nowhere",
        "LD_PRELOAD=/evil.so",      "-u=x",         "no value",
        "SLURM_JOB_ID=1",           "C=sbatch",     "SLURM_SPANK_K8S_IMAGE=x",
        "SLURM_UMASK=0027"};
    batch.variables = {"C=--k8s-env", "D=$(id)"};
    batch.arguments = {"one arg", "'", ""};
    batch.script = "printf '%s|' \"$A\" \"$B\" \"$SLURM_JOB_ID\" "
                   "\"$SLURM_SPANK_K8S_IMAGE\" \"$#\" \"$1\" \"$2\" "
                   "\"$(umask)\" \"$PWD\" \"$LD_PRELOAD\" \"$C\" \"$D\"\n"
                   "exit 7\n";
    Container container;

    CHECK(container.run(batch, {"SLURM_JOB_ID=4711"}) == 7);

    CHECK(read(container.out) ==
          "it's \"$HOME\" `id` \\|two\nlines|4711||3|one arg|'|0027|/tmp||"
          "--k8s-env|$(id)|");
}

TEST_CASE("where there is srun PATH begins with it, whoever has set the rest")
{
    auto path = [](std::vector<std::string> variables) {
        BatchScript batch;
        batch.variables = std::move(variables);
        batch.script = "printf '%s' \"$PATH\"\n";
        Container container;
        CHECK(container.run(batch, {}, {}, {}, "", "", "/slurmk8s/bin") == 0);
        return read(container.out);
    };

    CHECK(path({}) == std::string("/slurmk8s/bin:") + std::getenv("PATH"));
    CHECK(path({"PATH=/a b:/c"}) == "/slurmk8s/bin:/a b:/c");
    CHECK(path({"PATH="}) == "/slurmk8s/bin"); // not the working directory
}

TEST_CASE("a directory that the container lacks is said, and /tmp taken")
{
    BatchScript batch;
    batch.work_dir = "/no/such 'dir'";
    batch.script = "pwd\n";
    Container container;

    CHECK(container.run(batch, {}) == 0);

    CHECK(read(container.err).contains("couldn't chdir to `/no/such 'dir''"));
    CHECK(read(container.out) == "/tmp\n");
}

TEST_CASE("a umask that is none is left out")
{
    for (const char *mask : {"SLURM_UMASK=", "SLURM_UMASK=9",
                             "SLURM_UMASK=0; id", "SLURM_UMASK=00222"}) {
        BatchScript batch;
        batch.environment = {mask};
        CHECK_FALSE(batch_launcher(batch, {}, {}, {}).contains("\numask"));
    }
}

TEST_CASE("who submits without an environment has what a login sets at least")
{
    BatchScript batch;
    batch.environment = {"SLURM_GET_USER_ENV=1", "SHELL=/bin/zsh"};

    add_login(batch, {"alice", "staff", {}, "/home/alice", "/bin/sh"});

    CHECK(batch.environment ==
          std::vector<std::string>{"SLURM_GET_USER_ENV=1", "SHELL=/bin/zsh",
                                   "HOME=/home/alice", "USER=alice",
                                   "LOGNAME=alice"});
    batch.environment = {"A=1"}; // as it was
    add_login(batch, {"alice", "staff", {}, "/home/alice", "/bin/sh"});
    CHECK(batch.environment == std::vector<std::string>{"A=1"});
}

TEST_CASE("the script knows its process, and what is the shell's stays there")
{
    BatchScript batch;
    batch.work_dir = "/tmp";
    batch.environment = {"SLURM_TASK_PID=1", "TMPDIR=/of/host"};
    batch.script = "[ \"$SLURM_TASK_PID\" = $$ ] && echo mine\n"
                   "echo \"$TMPDIR $OLDPWD\"\n";
    Container container;

    CHECK(container.run(batch, {}) == 0);

    CHECK(read(container.out) == "mine\n/tmp \n");
}

TEST_CASE("the script has the limits with which it was submitted")
{
    BatchScript batch;
    batch.environment = {"SLURM_RLIMIT_NOFILE=77",
                         "SLURM_RLIMIT_CORE=1024",
                         "SLURM_RLIMIT_STACK=U4194304",
                         "SLURM_RLIMIT_CPU=x",
                         "SLURM_RLIMIT_AS=18446744073709551615",
                         "SLURM_RLIMIT_NPROC=1",
                         "SLURM_RLIMIT_=; id"};
    batch.script = "ulimit -S -n\nulimit -S -c\nulimit -S -s\nulimit -S -v\n"
                   "env | grep -c RLIMIT\n";
    Container container;

    container.run(batch, {});

    CHECK(read(container.out) == "77\n2\n4096\nunlimited\n0\n");
    CHECK(read(container.err) == "");
}

TEST_CASE("a limit beyond the hard one is that; who asked for it is told")
{
    BatchScript batch;
    batch.environment = {"SLURM_RLIMIT_NOFILE=18446744073709551614"};
    batch.script = "[ \"$(ulimit -S -n)\" = \"$(ulimit -H -n)\" ]\n";
    Container container;

    CHECK(container.run(batch, {}) == 0);
    CHECK(read(container.err) == "");
    batch.environment = {"SLURM_RLIMIT_NOFILE=U18446744073709551614"};
    container.run(batch, {});
    CHECK(read(container.err) == "slurmk8s: error: cannot propagate "
                                 "RLIMIT_NOFILE from submit host\n");
}

TEST_CASE("an interpreter that is not there is said")
{
    BatchScript batch;
    Container container;
    std::string output = container.path("f");
    // The real script is behind the line that the container writes.
    batch.script = "#! /no/such/shell -e\n";

    CHECK(container.run(batch, {}, {output, true}, {output, true}) == 2);

    CHECK(read(output) == "slurmk8s: error: execve(): bad interpreter("
                          "/no/such/shell): No such file or directory\n");
}

TEST_CASE("output goes to the files and to the log, and none of it is lost")
{
    Container container;
    BatchScript batch;
    batch.environment = {"SLURM_UMASK=0027"};
    // Larger than a pipe, with an end that comes at once.
    batch.script = "seq 1 20000\necho bad >&2\nexit 7\n";
    std::string file = container.path("it's a file");
    std::string errors = container.path("f");

    CHECK(container.run(batch, {}, {file, true}, {errors, true}) == 7);

    CHECK(read(file).ends_with("\n19999\n20000\n"));
    CHECK(read(container.out) == read(file));
    CHECK(read(errors) == "bad\n");
    CHECK(read(container.err) == "bad\n");
    CHECK((std::filesystem::status(file).permissions() &
           std::filesystem::perms::all) ==
          (std::filesystem::perms::owner_read |
           std::filesystem::perms::owner_write |
           std::filesystem::perms::group_read));
    CHECK(std::filesystem::is_empty(container.path("pipes")));
}

TEST_CASE("one file may have both, and is emptied or kept as the job says")
{
    BatchScript batch;
    batch.script = "echo out\necho err >&2\n";
    for (bool append : {false, true}) {
        Container container;
        batch.append = append;
        std::string file = container.path("f");
        std::ofstream(file) << "before\n";

        CHECK(container.run(batch, {}, {file, true}, {file, true}) == 0);

        CHECK(read(file) ==
              std::string(append ? "before\n" : "") + "out\nerr\n");
        CHECK(read(container.out) == "out\nerr\n");
    }
}

TEST_CASE("a file that was asked for and cannot be opened fails the job")
{
    BatchScript batch;
    batch.script = "echo ran\n";
    Container container;

    CHECK(container.run(batch, {}, {"/no/such/file", true},
                        {container.path("f"), true}) == no_output_exit);

    CHECK(read(container.err).contains("could not open /no/such/file"));
    CHECK(read(container.out).empty());
}

TEST_CASE("without a file that nobody asked for the log says so")
{
    BatchScript batch;
    batch.script = "echo ran\nexit 3\n";
    Container container;
    BatchOutput nowhere{"/no/such/slurm-7.out", false};

    CHECK(container.run(batch, {}, nowhere, nowhere) == 3);

    CHECK(read(container.err)
              .contains("cannot write the output file /no/such/slurm-7"));
    CHECK(read(container.out) == "ran\n");
}

TEST_CASE("signals to the container reach the script")
{
    struct {
        const char *script;
        const char *signal;
        int exit;
    } rows[] = {
        {"trap 'exit 3' TERM\n: > $READY\nwhile :; do sleep 0.1; done\n",
         "TERM", 3},
        {"trap 'exit 4' USR1\n: > $READY\nwhile :; do sleep 0.1; done\n",
         "USR1", 4},
        {": > $READY\nexec sleep 60\n", "TERM", 128 + 15},
        {"trap : TERM\n: > $READY\nsleep 1\nexit 9\n", "TERM", 9},
    };
    for (const auto &row : rows) {
        CAPTURE(row.script);
        Container container;
        BatchScript batch;
        batch.script = row.script;
        batch.variables = {"READY=" + container.path("ready")};
        std::string file = container.path("f");

        CHECK(container.run(batch, {}, {file, true}, {file, true},
                            "while ! [ -e " + container.path("ready") +
                                " ]; do sleep 0.05; done; kill -s " +
                                row.signal + " $job") == row.exit);
    }
}

TEST_CASE("a signal that comes before the script runs reaches it all the same")
{
    Container container;
    BatchScript batch;
    batch.script = "exec sleep 60\n";
    std::string file = container.path("f");

    CHECK(container.run(batch, {}, {file, true}, {file, true},
                        "while ! [ -e " + container.path("pipes/end") +
                            " ]; do :; done; kill -s TERM $job") == 128 + 15);
}

TEST_CASE("a script that dies of a signal has the code of a container")
{
    Container container;
    BatchScript batch;
    batch.script = "echo last words\nkill -s KILL $$\n";
    std::string file = container.path("f");

    CHECK(container.run(batch, {}, {file, true}, {file, true}) == 128 + 9);

    CHECK(read(file) == "last words\n");
    CHECK(read(container.out) == "last words\n");
}

TEST_CASE("what a script leaves behind keeps neither the job nor its output")
{
    Container container;
    BatchScript batch;
    batch.script = "sleep 60 &\necho last words\nexit 4\n";
    std::string file = container.path("f");
    auto began = std::chrono::steady_clock::now();

    CHECK(container.run(batch, {}, {file, true}, {file, true}) == 4);

    // It would wait for ten seconds, else.
    CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(8));
    CHECK(read(file) == "last words\n");
    CHECK(read(container.out) == "last words\n");
}

TEST_CASE("the script does not ignore SIGINT")
{
    Container container;
    BatchScript batch;
    batch.script = "sh -c 'kill -s INT $$; echo ignored'\nexit 0\n";
    std::string file = container.path("f");

    auto before = std::signal(SIGINT, SIG_DFL); // whatever runs this test
    int exit = container.run(batch, {}, {file, true}, {file, true});
    std::signal(SIGINT, before);

    CHECK(exit == 0);
    CHECK(read(file).empty());
}

TEST_CASE("the script reads its file, wherever its output goes")
{
    BatchScript batch;
    batch.script = "cat\n";
    for (bool to_file : {false, true}) {
        Container container;
        std::string in = container.path("it's in");
        std::ofstream(in) << "words\n";
        BatchOutput file{to_file ? container.path("f") : "", to_file};

        CHECK(container.run(batch, {}, file, file, "", in) == 0);
        CHECK(read(container.out) == "words\n");
    }
    Container container;
    CHECK(container.run(batch, {}, {}, {}, "", "/no/such/in") ==
          no_output_exit);
    CHECK(read(container.err).contains("could not open /no/such/in"));
    CHECK(read(container.out).empty());
}

TEST_CASE("the script gets its signal when its end is near, and others do not")
{
    using std::chrono::system_clock;
    struct {
        int left; // seconds until the job's end
        bool to_file;
        int exit;
    } rows[] = {{62, false, 4}, {62, true, 4}, {600, false, 9}, {600, true, 9}};
    for (const auto &row : rows) {
        CAPTURE(row.left);
        CAPTURE(row.to_file);
        Container container;
        BatchScript batch;
        batch.signal = SIGUSR1;
        batch.signal_seconds = 60;
        batch.script = "trap 'exit 4' USR1\nfor i in $(seq 40); do\n"
                       "  sleep 0.1\ndone\nexit 9\n";
        auto now = system_clock::to_time_t(system_clock::now());
        std::ofstream(container.path("ends")) << now + row.left;
        BatchOutput file{row.to_file ? container.path("f") : "", row.to_file};

        CHECK(container.run(batch, {}, file, file) == row.exit);
    }
}

TEST_CASE("a time limit that is changed moves the signal")
{
    using std::chrono::system_clock;
    Container container;
    BatchScript batch;
    batch.signal = SIGUSR1;
    batch.signal_seconds = 60;
    batch.script = "trap 'exit 4' USR1\nfor i in $(seq 40); do\n"
                   "  sleep 0.1\ndone\nexit 9\n";
    auto now = system_clock::to_time_t(system_clock::now());
    std::string ends = container.path("ends");
    std::ofstream(ends) << now + 62;

    // Later, before it is due.
    CHECK(container.run(batch, {}, {}, {},
                        "echo " + std::to_string(now + 600) + " > " + ends) ==
          9);
}

TEST_CASE("without a time that is known there is no signal")
{
    Container container;
    BatchScript batch;
    batch.signal = SIGUSR1;
    batch.signal_seconds = 60;
    batch.script = "sleep 1\nexit 9\n";

    CHECK(container.run(batch, {}) == 9);
    std::ofstream(container.path("ends")) << "soon";
    CHECK(container.run(batch, {}) == 9);
}
