// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/srun/task_process.h"

#include "cli/srun/step_io.h"
#include "cli/srun/step_limits.h"
#include "cli/srun/task_environment.h"
#include "common/base/text.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace bridge {

namespace {

Error cannot(const std::string &doing, const std::string &path)
{
    return {
        Code::rejected, doing + " " + path + ": " + errno_message(errno), {}};
}

std::vector<char *> pointers(std::vector<std::string> &words)
{
    std::vector<char *> list;
    for (std::string &word : words)
        list.push_back(word.data());
    list.push_back(nullptr);
    return list;
}

// Finds a command in the task's own PATH, like _build_path() in slurmstepd.
std::string find_program(const std::string &name,
                         const Environment &environment)
{
    if (name.contains('/'))
        return name;
    const char *path = find_variable(environment, "PATH");
    for (std::string_view rest = path ? path : ""; !rest.empty();) {
        std::string file = std::string(next_part(rest, ':')) + "/" + name;
        struct stat facts;
        if (stat(file.c_str(), &facts) == 0 && !S_ISDIR(facts.st_mode))
            return file;
    }
    return name;
}

} // namespace

Result<TaskStarter::Ends> TaskStarter::open_input(std::size_t local_id)
{
    using Kind = StepStream::Kind;
    const StepStream &stream = launch_.input;
    TaskId task = launch_.tasks[local_id];
    Ends ends;
    if (stream.kind == Kind::none ||
        (stream.kind == Kind::one && stream.task != task)) {
        ends.task = OwnedFd(open("/dev/null", O_RDONLY | O_CLOEXEC));
        return ends;
    }
    if (stream.kind == Kind::file) {
        std::string path =
            expand_stream(stream.pattern, launch_.facts,
                          TaskFacts{task, launch_.node, launch_.node_name});
        ends.task = OwnedFd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
        if (!ends.task)
            return std::unexpected(cannot("Could not open stdin file", path));
        return ends;
    }
    int pipe_ends[2];
    if (pipe2(pipe_ends, O_CLOEXEC) != 0)
        return std::unexpected(cannot("cannot make a pipe for", "stdin"));
    ends.task = OwnedFd(pipe_ends[0]);
    ends.ours = OwnedFd(pipe_ends[1]);
    fcntl(ends.ours.get(), F_SETFL, O_NONBLOCK);
    return ends;
}

Result<TaskStarter::Ends> TaskStarter::open_output(const StepStream &stream,
                                                   std::size_t local_id)
{
    using Kind = StepStream::Kind;
    TaskId task = launch_.tasks[local_id];
    Ends ends;
    if (stream.kind == Kind::none ||
        (stream.kind == Kind::one && stream.task != task)) {
        ends.task = OwnedFd(open("/dev/null", O_WRONLY | O_CLOEXEC));
        return ends;
    }
    if (stream.kind == Kind::file) {
        std::string path =
            expand_stream(stream.pattern, launch_.facts,
                          TaskFacts{task, launch_.node, launch_.node_name});
        bool again = launch_.append || std::ranges::contains(opened_, path);
        int flags = O_WRONLY | O_CREAT | O_APPEND | (again ? 0 : O_TRUNC);
        ends.task = open_output_file(path, flags);
        if (!ends.task)
            return std::unexpected(cannot("Could not open file", path));
        opened_.push_back(path);
        return ends;
    }
    int pipe_ends[2];
    if (pipe2(pipe_ends, O_CLOEXEC) != 0)
        return std::unexpected(cannot("cannot make a pipe for", "output"));
    ends.ours = OwnedFd(pipe_ends[0]);
    ends.task = OwnedFd(pipe_ends[1]);
    fcntl(ends.ours.get(), F_SETFL, O_NONBLOCK);
    return ends;
}

void TaskStarter::become_task(std::size_t local_id, int in, int out, int error)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(in, 0);
    dup2(out, 1);
    dup2(error, 2);
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);

    std::vector<std::string> arguments = launch_.arguments;
    Environment environment = task_environment(
        launch_, local_id, static_cast<std::uint32_t>(getpid()), own_);
    std::string program = find_program(arguments[0], environment);
    std::vector<char *> words = pointers(arguments);
    std::vector<char *> variables = pointers(environment);
    set_soft_limits(launch_.limits);
    execve(program.c_str(), words.data(), variables.data());
    int number = errno;
    print_error_line(launch_.node_name + ": execve(): " + program + ": " +
                     errno_message(number));
    _exit(number & 0xff);
}

Result<TaskProcess> TaskStarter::start(std::size_t local_id)
{
    auto in = open_input(local_id);
    if (!in)
        return std::unexpected(in.error());
    auto out = open_output(launch_.output, local_id);
    if (!out)
        return std::unexpected(out.error());
    // One file for both is opened once, so that both share one position.
    bool shared = launch_.error.kind == StepStream::Kind::file &&
                  launch_.error == launch_.output;
    auto error =
        shared ? Result<Ends>(Ends{}) : open_output(launch_.error, local_id);
    if (!error)
        return std::unexpected(error.error());
    pid_t pid = fork();
    if (pid < 0)
        return std::unexpected(cannot("cannot start", launch_.arguments[0]));
    if (pid == 0)
        become_task(local_id, in->task.get(), out->task.get(),
                    shared ? out->task.get() : error->task.get());
    setpgid(pid, pid); // before anybody signals it
    return TaskProcess{launch_.tasks[local_id], pid, std::move(in->ours),
                       std::move(out->ours), std::move(error->ours)};
}

std::vector<pid_t> other_children(const std::vector<pid_t> &known)
{
    std::string self = std::to_string(getpid());
    std::string list =
        read_file("/proc/self/task/" + self + "/children", 1 << 20)
            .value_or("");
    std::vector<pid_t> others;
    for (std::string_view rest = list; !rest.empty();)
        if (auto pid = whole_number<pid_t>(next_part(rest, ' '));
            pid && !std::ranges::contains(known, *pid))
            others.push_back(*pid);
    return others;
}

bool kill_other_children(const std::vector<pid_t> &known)
{
    std::vector<pid_t> others = other_children(known);
    for (pid_t pid : others) {
        kill(pid, SIGKILL);
        waitpid(pid, nullptr, WNOHANG);
    }
    return !others.empty();
}

void end_other_children(const std::vector<pid_t> &known,
                        std::chrono::seconds time)
{
    auto limit = StepClock::now() + time;
    while (kill_other_children(known) && StepClock::now() < limit)
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

} // namespace bridge
