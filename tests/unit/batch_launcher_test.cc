// SPDX-License-Identifier: GPL-2.0-or-later
// Run in a real shell.
#include "agent/batch_launcher.h"

#include "agent/batch_pod.h"

#include "tests/unit/temporary_directory.h"

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
            const std::string &more = "") const
    {
        std::filesystem::create_directories(path("pipes"));
        std::string launcher = batch_launcher(batch, variables, output, error);
        replace_all(launcher, "/slurmk8s-pipes", path("pipes"));
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
    batch.environment = {"A=it's \"$HOME\" `id` \\",
                         "B=two\nlines",
                         "PATH=/nowhere",
                         "LD_PRELOAD=/evil.so",
                         "-u=x",
                         "no value",
                         "SLURM_JOB_ID=1",
                         "C=sbatch",
                         "SLURM_SPANK_K8S_IMAGE=x",
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
          std::vector<std::string>{"SHELL=/bin/zsh", "HOME=/home/alice",
                                   "USER=alice", "LOGNAME=alice"});
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

        CHECK(read(file) == std::string(append ? "before\n" : "") +
                                "out\nerr\n");
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

    CHECK(read(container.err).contains("there is no file /no/such/slurm-7"));
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
