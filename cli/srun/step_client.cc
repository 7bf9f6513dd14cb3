// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/srun/step_client.h"

#include "cli/srun/client_input.h"
#include "cli/srun/step_ending.h"
#include "cli/srun/step_keeper.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace bridge {

namespace {

using namespace std::chrono_literals;

class StepClient {
  public:
    StepClient(const SrunOptions &options, std::string step_name,
               std::uint32_t tasks, std::vector<StepLink> links,
               StepPipes pipes, unsigned kill_wait)
        : options_(options), states_(tasks, step_name),
          links_(std::move(links)), pipes_(std::move(pipes)),
          input_(pipes_.input, pipes_.reader, links_),
          ending_(options, step_name, states_, links_, *pipes_.messages,
                  kill_wait),
          width_(std::to_string(tasks - 1).size()),
          signals_(make_signal_fd(
              {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2}))
    {
        signal(SIGTTIN, SIG_IGN);
        for (const StepLink &link : links_)
            states_.started(link.tasks);
        for (const auto &sink : {pipes_.output, pipes_.error, pipes_.messages})
            if (!std::ranges::contains(sinks_, sink))
                sinks_.push_back(sink);
    }

    int run()
    {
        for (settle(); !over(); settle())
            wait_and_handle();
        if (lost_keeper_ > 0)
            wait_for_keeper();
        if (ending_.gave_up()) {
            error("Timed out waiting for job step to complete");
            for (const auto &sink : sinks_)
                write_while_read(*sink);
        }
        bool failed = ending_.gave_up() || unwritten_;
        return std::max(states_.exit_code(), failed ? 1 : 0);
    }

  private:
    bool over() const
    {
        if (ending_.gave_up())
            return true;
        return std::ranges::all_of(links_, &StepLink::over) &&
               std::ranges::all_of(
                   sinks_, [](const auto &sink) { return sink->empty(); });
    }

    // Handles everything that follows from the present state, before it sleeps.
    void settle()
    {
        ending_.check_limits();
        for (const auto &sink : {pipes_.output, pipes_.error})
            if (sink->broken())
                lose_output(sink->fault());
        for (StepLink &link : links_)
            link.send_some();
    }

    // The output of tasks cannot be written, or nobody reads it.
    void lose_output(int fault)
    {
        if (fault && !unwritten_) {
            unwritten_ = true;
            error("Could not write the output of tasks: " +
                  errno_message(fault));
        }
        if (!ending_.begun())
            ending_.begin();
    }

    static void write_while_read(StepSink &sink)
    {
        for (std::size_t had = sink.size() + 1;
             sink.size() < had && !sink.empty();) {
            had = sink.size();
            sink.write_some();
        }
    }

    // poll() always reports regular files as ready, so that they are polled
    // only when there is something to read or write.
    void wait_and_handle()
    {
        std::vector<pollfd> polls{{signals_.get(), POLLIN, 0},
                                  {input_.fd(), POLLIN, 0}};
        for (const auto &sink : sinks_)
            polls.push_back({sink->empty() ? -1 : sink->fd(), POLLOUT, 0});
        std::size_t first_link = polls.size();
        bool room = !pipes_.output->full() && !pipes_.error->full();
        for (const StepLink &link : links_) {
            short events = static_cast<short>(
                (room ? POLLIN : 0) | (link.queue.empty() ? 0 : POLLOUT));
            polls.push_back(
                {link.over || events == 0 ? -1 : link.fd.get(), events, 0});
        }
        int time = poll_time(ending_.next_limit());
        if (poll(polls.data(), polls.size(), time) <= 0)
            return;
        if (polls[0].revents)
            read_signals();
        if (polls[1].revents)
            input_.read_some();
        for (std::size_t i = 0; i < sinks_.size(); i++)
            if (polls[2 + i].revents)
                sinks_[i]->write_some();
        for (std::size_t i = 0; i < links_.size(); i++)
            if (polls[first_link + i].revents & ~POLLOUT && room)
                read_link(links_[i]);
    }

    // --- what nodes say

    void read_link(StepLink &link)
    {
        std::string piece(max_step_data, '\0');
        ssize_t got =
            recv(link.fd.get(), piece.data(), piece.size(), MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (got <= 0)
            return lose(link);
        link.reader.feed(
            std::string_view(piece).substr(0, static_cast<std::size_t>(got)));
        while (!link.over) {
            auto frame = link.reader.next();
            if (frame && !*frame)
                return;
            if (!frame || !handle(link, **frame))
                return lose(link);
        }
    }

    // Returns false for a frame that no worker would send.
    bool handle(StepLink &link, const StepFrame &frame)
    {
        FieldReader reader(frame.text);
        switch (frame.kind) {
        case StepFrameKind::output:
            return add_output(link, reader, *pipes_.output);
        case StepFrameKind::error:
            return add_output(link, reader, *pipes_.error);
        case StepFrameKind::exited: {
            int status = static_cast<int>(reader.number());
            auto tasks = reader.numbers();
            if (!reader.whole() || tasks.empty() ||
                !std::ranges::includes(link.tasks, tasks))
                return false;
            handle_task_end(link, tasks, status);
            return true;
        }
        case StepFrameKind::taken: {
            std::uint32_t count = reader.number();
            if (!reader.whole() || count > link.untaken)
                return false;
            link.untaken -= count;
            return true;
        }
        case StepFrameKind::message:
            error(link.node + ": " + frame.text);
            return true;
        case StepFrameKind::cancelled:
            link.cancelled = true;
            ending_.cancelled(link.node);
            return true;
        case StepFrameKind::done:
            if (!std::ranges::all_of(link.tasks, [&](TaskId task) {
                    return states_.has_ended(task);
                }))
                return false;
            link.over = true;
            link.fd = OwnedFd();
            return true;
        default:
            return false;
        }
    }

    // Adds what a task wrote. Returns false if it is no task of the node.
    bool add_output(const StepLink &link, FieldReader &reader, StepSink &sink)
    {
        TaskId task = reader.number();
        if (!reader.good() || !std::ranges::contains(link.tasks, task))
            return false;
        if (options_.label)
            sink.add(label_lines(reader.rest(), task, width_));
        else
            sink.add(reader.rest());
        return true;
    }

    void handle_task_end(const StepLink &link, const std::vector<TaskId> &tasks,
                         int status)
    {
        std::string words = states_.ended(link.node, tasks, status);
        bool signalled = (status & 0x7f) != 0;
        // After a signal to all tasks, their ends are expected.
        if (!words.empty() && (!ending_.begun() || !signalled))
            error(words);
        else if (!words.empty())
            explain(words);
        if (!words.empty() && options_.kill_on_bad_exit)
            ending_.end_step();
    }

    // The node's Pod is gone, or cannot be reached.
    void lose(StepLink &link)
    {
        if (link.over)
            return;
        link.over = true;
        link.fd = OwnedFd();
        lost_keeper_ = std::max(lost_keeper_, link.keeper);
        states_.lost(link.tasks);
        if (!link.cancelled)
            error("Node failure on " + link.node);
        if (!options_.no_kill)
            ending_.end_step();
    }

    void read_signals()
    {
        while (int number = next_signal(signals_))
            ending_.handle_signal(number);
    }

    // The keeper ends the processes that a killed server on this node has left.
    void wait_for_keeper() const
    {
        auto limit = StepClock::now() + keeper_time + 1s;
        while (waitpid(lost_keeper_, nullptr, WNOHANG) == 0 &&
               StepClock::now() < limit)
            std::this_thread::sleep_for(20ms);
    }

    void error(std::string_view words)
    {
        pipes_.messages->add(message_line("error: " + std::string(words)));
    }

    void explain(std::string_view words)
    {
        if (options_.verbose > 0)
            pipes_.messages->add(message_line(words));
    }

    const SrunOptions &options_;
    TaskStates states_;
    std::vector<StepLink> links_;
    StepPipes pipes_;
    std::vector<std::shared_ptr<StepSink>> sinks_; // of the pipes, each once
    ClientInput input_;
    StepEnding ending_;
    std::size_t width_; // of task numbers
    OwnedFd signals_;
    pid_t lost_keeper_ = 0;  // 0: the connection to this node is not lost
    bool unwritten_ = false; // output that tasks wrote
};

} // namespace

int run_step(const SrunOptions &options, const std::string &step_name,
             std::uint32_t tasks, std::vector<StepLink> links, StepPipes pipes,
             unsigned kill_wait)
{
    return StepClient(options, step_name, tasks, std::move(links),
                      std::move(pipes), kill_wait)
        .run();
}

} // namespace bridge
