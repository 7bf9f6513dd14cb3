// SPDX-License-Identifier: GPL-2.0-or-later
// What a part of the owner thread needs around it: a clock that the test moves,
// queues that it empties, and a Slurm and a Kubernetes that do nothing wrong.
#pragma once

#include "agent/owner/context.h"
#include "agent/owner/errands.h"
#include "tests/unit/fakes/fake_kube.h"
#include "tests/unit/fakes/fake_slurm.h"

#include <memory>
#include <variant>

namespace bridge {

struct OwnerBed {
    FakeSlurm slurm;
    FakeKube kube;
    TaskQueue submits;
    TaskQueue workers;
    TaskQueue reporters;
    Mailbox<Message> mailbox;
    Context context{std::make_shared<const Conf>(),
                    {slurm, submits, workers, reporters,
                     [](HookMessage, PluginConnection) {}}};
    Errands errands{context.ports, mailbox};

    OwnerBed() { context.now = Clock::time_point(std::chrono::hours(1)); }

    void pass(Clock::duration time) { context.now += time; }

    // Runs what waits for a worker, and then what follows on the owner thread.
    void settle()
    {
        while (workers.size() != 0)
            (*workers.pop())(kube);
        while (reporters.size() != 0)
            (*reporters.pop())(kube);
        while (mailbox.size() != 0)
            if (auto message = mailbox.pop();
                auto *ask = std::get_if<Ask>(&*message))
                ask->question();
    }
};

} // namespace bridge
