// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/srun/step_server.h"

#include "cli/srun/srun_peer.h"
#include "cli/srun/step_limits.h"
#include "cli/srun/step_tasks.h"
#include "common/base/wait_status.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace bridge {

namespace {

using namespace std::chrono_literals;

// For output that a process which cannot be killed keeps open, and for an srun
// that does not read although the container ends.
constexpr auto last_wait = 5s;

class StepServer {
  public:
    StepServer(OwnedFd peer, const Environment &own)
        : peer_(std::move(peer)), own_(own),
          signals_(make_signal_fd({SIGCHLD, SIGTERM}))
    {
    }

    void run()
    {
        for (settle(); !over(); settle())
            wait_and_handle();
        // Ends processes that the last check did not find, and their children.
        end_other_children({}, last_wait);
    }

  private:
    bool over() const { return peer_.lost() && tasks_.all_ended(); }

    void message(std::string_view words)
    {
        peer_.send(StepFrameKind::message, words.substr(0, max_step_data));
    }

    // Handles everything that follows from the present state, before it sleeps.
    void settle()
    {
        check_limits();
        peer_.send_some();
        if (told_done_ && peer_.empty())
            peer_.start_close();
        if (peer_.lost() && !alone_) {
            alone_ = true;
            tasks_.close_streams();
            end_tasks();
        }
    }

    void check_limits()
    {
        auto now = StepClock::now();
        if (kill_at_ && now >= *kill_at_) {
            kill_at_.reset();
            tasks_.signal(SIGKILL);
        }
        if (launched_ && tasks_.all_ended())
            end_step(now);
    }

    // All tasks have ended; their output may not have.
    void end_step(StepClock::time_point now)
    {
        tasks_.kill_orphans();
        if (stopped_)
            peer_.set_limit(now + last_wait);
        if (!tasks_.any_output()) {
            if (!told_done_ && !stopped_)
                peer_.send(StepFrameKind::done, "");
            told_done_ = true;
        } else if (!output_limit_ || peer_.full()) {
            output_limit_ = now + last_wait;
        } else if (now >= *output_limit_) {
            for (ServedTask &task : tasks_) {
                forward(task.out, task.task, task.out.finish());
                forward(task.error, task.task, task.error.finish());
            }
        }
    }

    std::optional<StepClock::time_point> next_limit() const
    {
        auto limit = peer_.next_limit();
        auto add = [&](StepClock::time_point other) {
            limit = limit ? std::min(*limit, other) : other;
        };
        if (kill_at_)
            add(*kill_at_);
        // Children of orphans come to this process one after the other.
        if (launched_ && tasks_.all_ended() && !told_done_)
            add(StepClock::now() + 20ms);
        return limit;
    }

    void wait_and_handle()
    {
        std::vector<pollfd> polls{{signals_.get(), POLLIN, 0},
                                  peer_.poll_entry()};
        bool room = !peer_.full();
        for (ServedTask &task : tasks_) {
            bool reads = input_.has_more_for(task.in);
            polls.push_back({reads ? task.in.fd.get() : -1, POLLOUT, 0});
            polls.push_back({room ? task.out.fd() : -1, POLLIN, 0});
            polls.push_back({room ? task.error.fd() : -1, POLLIN, 0});
        }
        int time = poll_time(next_limit());
        if (poll(polls.data(), polls.size(), time) <= 0)
            return;
        for (std::size_t i = 0; 3 * i + 4 < polls.size(); i++) {
            if (polls[3 * i + 2].revents)
                input_.write_to(tasks_[i].in);
            if (polls[3 * i + 3].revents)
                read_output(tasks_[i].out, tasks_[i].task);
            if (polls[3 * i + 4].revents)
                read_output(tasks_[i].error, tasks_[i].task);
        }
        drop_input();
        if (polls[1].revents)
            read_peer();
        if (polls[0].revents)
            read_signals();
    }

    void read_signals()
    {
        while (int number = next_signal(signals_)) {
            if (number == SIGCHLD)
                reap();
            else
                stop();
        }
    }

    // The container ends, and srun loses this node.
    void stop()
    {
        if (!stopped_ && !told_done_)
            peer_.send(StepFrameKind::cancelled, "");
        stopped_ = true;
        peer_.send_some();
        if (launched_)
            end_tasks();
        else
            peer_.lose();
    }

    void reap()
    {
        for (const auto &[status, tasks] : tasks_.reap())
            report_end(status, tasks);
        drop_input();
    }

    void report_end(int status, const std::vector<TaskId> &tasks)
    {
        peer_.send(StepFrameKind::exited,
                   FieldWriter()
                       .number(static_cast<std::uint32_t>(status))
                       .numbers(tasks)
                       .take());
    }

    void read_peer()
    {
        peer_.receive();
        while (auto frame = peer_.next())
            if (!handle(*frame))
                peer_.lose();
    }

    // Returns false for a frame that srun would not send.
    bool handle(const StepFrame &frame)
    {
        if (frame.kind == StepFrameKind::launch && !launched_)
            return launch(frame.text);
        if (!launched_)
            return false;
        if (frame.kind == StepFrameKind::input) {
            bool taken = input_.take(frame.text);
            drop_input();
            return taken;
        }
        if (frame.kind != StepFrameKind::signal)
            return false;
        FieldReader reader(frame.text);
        std::uint32_t number = reader.number();
        if (!reader.whole() || number >= NSIG)
            return false;
        if (number == 0)
            end_tasks();
        else
            tasks_.signal(static_cast<int>(number));
        return true;
    }

    bool launch(std::string_view text)
    {
        auto launch = decode_launch(text);
        if (!launch)
            return false;
        launched_ = true;
        kill_wait_ = std::chrono::seconds(launch->kill_wait);
        unbuffered_ = launch->unbuffered;
        umask(static_cast<mode_t>(launch->umask));
        if (chdir(launch->directory.c_str()) != 0) {
            message("couldn't chdir to `" + launch->directory +
                    "': " + errno_message(errno) + ": going to /tmp instead");
            [[maybe_unused]] int changed = chdir("/tmp");
        }
        TaskStarter starter(*launch, own_);
        for (std::size_t i = 0; i < launch->tasks.size(); i++) {
            auto started = starter.start(i);
            if (!started) {
                message(started.error().message);
                report_end(exit_1, {launch->tasks[i]});
                continue;
            }
            tasks_.add(std::move(*started));
        }
        return true;
    }

    // --- the tasks' streams

    // Tells srun how much input all tasks have read, so that it sends more.
    void drop_input()
    {
        std::size_t count = input_.drop_before(tasks_.least_read(input_.end()));
        if (count > 0)
            peer_.send(
                StepFrameKind::taken,
                FieldWriter().number(static_cast<std::uint32_t>(count)).take());
    }

    void forward(const TaskOutput &output, TaskId task, std::string_view text)
    {
        if (!text.empty())
            peer_.send(output.kind(),
                       FieldWriter().number(task).take().append(text));
    }

    void read_output(TaskOutput &output, TaskId task)
    {
        std::string text = output.read_some(unbuffered_);
        output_limit_.reset();
        forward(output, task, text);
    }

    // --- the end

    void end_tasks()
    {
        if (kill_at_ || tasks_.all_ended())
            return;
        tasks_.signal(SIGCONT);
        tasks_.signal(SIGTERM);
        kill_at_ = StepClock::now() + kill_wait_;
    }

    SrunPeer peer_;
    const Environment &own_;
    OwnedFd signals_;
    StepTasks tasks_;
    TaskInput input_;
    std::chrono::seconds kill_wait_{30};
    std::optional<StepClock::time_point> kill_at_;
    std::optional<StepClock::time_point> output_limit_;
    bool launched_ = false;
    bool unbuffered_ = false;
    bool alone_ = false;   // srun is gone, and its tasks were told to end
    bool stopped_ = false; // by SIGTERM
    bool told_done_ = false;
};

} // namespace

void serve_step(OwnedFd peer, const Environment &own)
{
    raise_open_files(); // three for each task
    setsid();           // srun forwards Ctrl-C: the terminal must not
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    StepServer(std::move(peer), own).run();
}

} // namespace bridge
