// SPDX-License-Identifier: GPL-2.0-or-later
// The way of the owner thread to the workers and back. A question runs on a
// worker and knows only what it has captured by value, never a part of the
// owner thread; what follows from its answer runs on the owner thread, whatever
// happens: an exception becomes Code::busy, because others wait for the answer.
// Nothing here blocks.
#pragma once

#include "agent/owner/message.h"
#include "agent/owner/ports.h"
#include "common/base/mailbox.h"

#include <concepts>
#include <exception>
#include <memory>
#include <string>
#include <utility>

namespace bridge {

class Errands {
  public:
    Errands(const BridgePorts &ports, Mailbox<Message> &mailbox)
        : slurm_(ports.slurm), workers_(ports.workers),
          reporters_(ports.reporters), mailbox_(mailbox)
    {
    }

    // question: a function of a Slurm, of a Kube, or of both, that returns a
    // Result. then: a function of that Result.
    template <class Question, class Then>
    void ask(Question question, Then then) const
    {
        send(workers_, std::move(question), std::move(then));
    }

    // The same for what is written for people, which may wait. lane: the
    // namespace of what it is about, or "": agent/calls/task_queue.h.
    template <class Question, class Then>
    void report_in(const std::string &lane, Question question, Then then) const
    {
        send(reporters_, std::move(question), std::move(then), lane);
    }
    template <class Question, class Then>
    void report(Question question, Then then) const
    {
        report_in({}, std::move(question), std::move(then));
    }

    // The same as ask() with a message as the answer: of the type Answer, or
    // what message() makes of it on the worker.
    template <class Answer, class Question> void load(Question question) const
    {
        tell_in({}, std::move(question),
                [](auto answer) { return Answer{std::move(answer)}; });
    }
    template <class Question, class Make>
    void tell_in(const std::string &lane, Question question, Make message) const
    {
        workers_.push(
            [&slurm = slurm_, &mailbox = mailbox_,
             question = std::move(question),
             message = std::move(message)](Kube &kube) {
                mailbox.push(message(answer_of(question, slurm, kube)));
            },
            lane);
    }

    // For what needs no answer: if it fails, something that is read again from
    // time to time shows that.
    template <class Task> void run(Task task) const
    {
        workers_.push([&slurm = slurm_, task = std::move(task)](Kube &kube) {
            call(task, slurm, kube);
        });
    }
    template <class Task>
    void report_in(const std::string &lane, Task task) const
    {
        reporters_.push([&slurm = slurm_, task = std::move(task)](
                            Kube &kube) { call(task, slurm, kube); },
                        lane);
    }
    template <class Task> void report(Task task) const
    {
        report_in({}, std::move(task));
    }

    // Returns a function, for any thread, that hands the message to the owner
    // thread.
    template <class News> auto messenger() const
    {
        return
            [&mailbox = mailbox_](News news) { mailbox.push(std::move(news)); };
    }

  private:
    template <class Question>
    static auto call(Question &question, Slurm &slurm, Kube &kube)
    {
        if constexpr (std::invocable<Question &, Slurm &, Kube &>)
            return question(slurm, kube);
        else if constexpr (std::invocable<Question &, Slurm &>)
            return question(slurm);
        else
            return question(kube);
    }

    template <class Question>
    static auto answer_of(Question &question, Slurm &slurm, Kube &kube)
        -> decltype(call(question, slurm, kube))
    {
        try {
            return call(question, slurm, kube);
        } catch (const std::exception &e) { // such as out of memory
            return fail(Code::busy, e.what());
        }
    }

    template <class Question, class Then>
    void send(TaskQueue &queue, Question question, Then then,
              const std::string &lane = {}) const
    {
        queue.push(
            [&slurm = slurm_, &mailbox = mailbox_,
             question = std::move(question),
             then = std::move(then)](Kube &kube) {
                auto answer = std::make_shared<decltype(answer_of(
                    question, slurm, kube))>(answer_of(question, slurm, kube));
                mailbox.push(Ask{[then, answer] { then(*answer); }});
            },
            lane);
    }

    Slurm &slurm_;
    TaskQueue &workers_;
    TaskQueue &reporters_;
    Mailbox<Message> &mailbox_;
};

} // namespace bridge
