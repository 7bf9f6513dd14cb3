// SPDX-License-Identifier: GPL-2.0-or-later
// slurmk8s salloc: submits a job with sbatch's options, and opens a shell in
// its Pod.
#include "cli/commands.h"
#include "cli/slurm_here.h"
#include "cli/user/attach.h"
#include "cli/user/job_name.h"
#include "cli/user/salloc_script.h"
#include "cli/user/session.h"
#include "common/base/owned_fd.h"
#include "common/slurm/api.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <format>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace bridge {

namespace {

using namespace std::chrono_literals;

constexpr auto look = 1s;         // between checks whether it runs
constexpr int most_failures = 60; // of such checks, in a row
constexpr int exit_signal = 130;

std::atomic<bool> interrupted = false;

void record_signal(int) noexcept
{
    interrupted = true;
}

void set_signals(void (*handler)(int))
{
    struct sigaction action{};
    action.sa_handler = handler;
    for (int signal : {SIGINT, SIGTERM, SIGHUP})
        sigaction(signal, &action, nullptr);
}

// Returns a file without a name, positioned at its beginning.
Result<OwnedFd> file_of(const std::string &text)
{
    OwnedFd fd(memfd_create("slurmk8s-salloc", MFD_CLOEXEC));
    if (!fd || !write_to(fd.get(), text) || lseek(fd.get(), 0, SEEK_SET) != 0)
        return fail(Code::internal, std::string("the script could not be "
                                                "written: ") +
                                        std::strerror(errno));
    return fd;
}

std::string read_all(int fd)
{
    std::string text;
    std::array<char, 256> bytes;
    for (;;) {
        ssize_t count = read(fd, bytes.data(), bytes.size());
        if (count > 0)
            text.append(bytes.data(), static_cast<std::size_t>(count));
        else if (count == 0 || errno != EINTR)
            return text;
    }
}

// Returns what sbatch prints on stdout; its errors are already on stderr.
// Code::rejected when it submitted no job.
Result<std::string> run_sbatch(std::vector<std::string> words)
{
    auto script = file_of(salloc_script());
    if (!script)
        return std::unexpected(script.error());
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0)
        return fail(Code::internal, std::strerror(errno));
    OwnedFd from(ends[0]), to(ends[1]);

    std::vector<char *> arguments;
    for (std::string &word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, script->get(), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, to.get(), STDOUT_FILENO);
    pid_t child = 0;
    int error = posix_spawnp(&child, "sbatch", &actions, nullptr,
                             arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0)
        return fail(Code::rejected,
                    std::string("sbatch: ") + std::strerror(error));
    to = OwnedFd();
    std::string said = read_all(from.get());
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return fail(Code::rejected, "sbatch submitted no job");
    return said;
}

Result<std::uint32_t> submit(const std::vector<std::string> &options)
{
    std::vector<std::string> words = {
        "sbatch", "--parsable", "--job-name=interactive", "--output=/dev/null"};
    words.insert(words.end(), options.begin(), options.end());
    auto said = run_sbatch(std::move(words));
    if (!said)
        return std::unexpected(said.error());
    // The output is JOBID[;CLUSTER] and a newline.
    auto name = parse_job_name(said->substr(0, said->find_first_of(";\n")));
    if (!name)
        return fail(Code::internal, "sbatch printed no JobId: " + *said);
    return name->job;
}

// Sets told when something was read before the end.
void read_to_end(int fd, bool &told)
{
    char byte = 0;
    for (;;) {
        ssize_t count = read(fd, &byte, 1);
        if (count > 0)
            told = true;
        else if (count == 0 || errno != EINTR)
            return;
    }
}

// Ends the job when this program ends, in whatever way: a child process notices
// that our end of a pipe is closed. The command in the container would not
// notice, because the runtime keeps its terminal open.
class OwnJob {
  public:
    // Must be called while the process has no other threads.
    explicit OwnJob(std::uint32_t id) : id_(id)
    {
        std::array<int, 2> ends{};
        if (pipe2(ends.data(), O_CLOEXEC) != 0)
            return; // then the destructor names the job to cancel
        OwnedFd from(ends[0]);
        ours_ = OwnedFd(ends[1]);
        guard_ = fork();
        if (guard_ != 0)
            return;
        ours_ = OwnedFd();
        watch(from.get());
    }
    OwnJob(const OwnJob &) = delete;
    OwnJob &operator=(const OwnJob &) = delete;
    ~OwnJob()
    {
        if (left_to_itself_ && ours_)
            static_cast<void>(write_to(ours_.get(), "."));
        ours_ = OwnedFd();
        if (guard_ > 0)
            waitpid(guard_, nullptr, 0);
        else if (!left_to_itself_)
            std::fprintf(stderr,
                         "slurmk8s: job %u goes on: end it with scancel %u\n",
                         id_, id_);
    }

    void leave_to_itself() { left_to_itself_ = true; }
    std::uint32_t id() const { return id_; }

  private:
    [[noreturn]] void watch(int fd) const
    {
        setsid(); // a closed terminal would end its processes
        for (int signal : {SIGHUP, SIGINT, SIGTERM})
            std::signal(signal, SIG_IGN);
        bool told = false;
        read_to_end(fd, told);
        std::string id = std::to_string(id_);
        if (!told)
            execlp("scancel", "scancel", "--quiet", id.c_str(), nullptr);
        _exit(told ? 0 : 1);
    }

    std::uint32_t id_;
    OwnedFd ours_;
    pid_t guard_ = -1;
    bool left_to_itself_ = false;
};

// Succeeds once the job runs.
Result<> wait_until_running(Slurm &slurm, std::uint32_t id)
{
    for (int failures = 0; !interrupted;) {
        auto details = slurm.load_details(id);
        if (!details && ++failures >= most_failures)
            return std::unexpected(details.error());
        if (details) {
            failures = 0;
            JobState state = details->job.state;
            if (state == JobState::running)
                return {};
            if (is_ended(state))
                return fail(Code::rejected,
                            std::format("job {} is {}", id, state_name(state)));
        }
        std::this_thread::sleep_for(look);
    }
    return fail(Code::gone, "interrupted");
}

// The job runs a moment before its container does.
Result<SessionEnd> attach_when_started(const SessionConf &conf, Slurm &slurm,
                                       const SessionRequest &request)
{
    for (;;) {
        auto end = attach_to(conf, request);
        if (!end || !end->later)
            return end;
        std::this_thread::sleep_for(look);
        if (auto runs = wait_until_running(slurm, request.job); !runs)
            return std::unexpected(runs.error());
    }
}

int attend(const SessionConf &conf, Slurm &slurm, OwnJob &job,
           const std::vector<std::string> &command)
{
    std::fprintf(stderr, "slurmk8s: job %u waits\n", job.id());
    if (auto runs = wait_until_running(slurm, job.id()); !runs)
        return print_error(runs.error().message,
                           interrupted ? exit_signal : exit_failed);
    std::fprintf(stderr, "slurmk8s: job %u runs\n", job.id());
    set_signals(SIG_DFL);
    const char *terminal = std::getenv("TERM");
    auto end = attach_when_started(
        conf, slurm,
        attach_request(job.id(),
                       salloc_command(command, terminal ? terminal : "")));
    if (!end)
        return print_error(end.error().message);
    if (end->refused.empty())
        job.leave_to_itself(); // the script has seen it, and ends with success
    return report_end(*end);
}

} // namespace

int salloc(const std::string &conf_path,
           const std::vector<std::string> &options,
           const std::vector<std::string> &command)
{
    auto conf = load_user_conf(conf_path);
    if (!conf)
        return print_error(conf.error().message);
    if (!has_slurm_conf())
        return print_error("there is no slurm.conf on this host");
    set_signals(record_signal);
    auto id = submit(options);
    if (!id)
        return print_error(id.error().message);
    OwnJob job(*id);
    SlurmApi slurm;
    return attend(*conf, slurm, job, command);
}

} // namespace bridge
