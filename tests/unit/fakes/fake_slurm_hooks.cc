// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/unit/fakes/fake_slurm.h"

#include <algorithm>
#include <utility>

namespace bridge {

void FakeSlurm::receive(const HookMessage &message)
{
    Record *record = record_of(message.job);
    switch (message.type) {
    case HookMessage::Type::kick:
        kicks++;
        schedule();
        break;
    case HookMessage::Type::start:
        starts++;
        if (record)
            open_prolog(*record);
        break;
    case HookMessage::Type::clean:
        cleans++;
        if (record)
            record->epilog_held = false;
        open_ordinary();
        break;
    case HookMessage::Type::bridge:
        bridge_said.push_back(message);
        break;
    case HookMessage::Type::synced:
        synced_said.push_back(message);
        open_ordinary();
        break;
    default:
        break;
    }
}

void FakeSlurm::connect(std::function<void(HookMessage)> sink)
{
    hooks = std::move(sink);
    hooks({.type = HookMessage::Type::hello,
           .version = hook_protocol_version,
           .cluster = "fake",
           .host = "localhost"});
    for (auto &[id, record] : jobs_) {
        if (record.prolog_held)
            tell(record, HookMessage::Type::allocated);
        if (record.epilog_held)
            tell(record, HookMessage::Type::ended);
    }
}

std::string FakeSlurm::dirty() const
{
    return synced_said.empty() ? "never" : synced_said.back().dirty;
}

bool FakeSlurm::is_dirty(const std::string &node) const
{
    return ("," + dirty() + ",").contains("," + node + ",") ||
           std::ranges::any_of(jobs_, [&](const auto &known) {
               return known.second.epilog_held &&
                      std::ranges::contains(known.second.job.nodes, node);
           });
}

bool FakeSlurm::may_open_by_itself(const Record &record) const
{
    return !is_ours(record) && record.prolog_held &&
           !is_dirty(record.job.nodes.front());
}

void FakeSlurm::open_prolog(Record &record)
{
    if (!std::exchange(record.prolog_held, false))
        return;
    record.job.state = JobState::running;
}

void FakeSlurm::open_ordinary()
{
    for (auto &[id, record] : jobs_)
        if (may_open_by_itself(record))
            open_prolog(record);
}

void FakeSlurm::tell(const Record &record, HookMessage::Type type)
{
    if (!hooks)
        return;
    HookMessage message{.type = type, .job = record.job.ref};
    for (const std::string &node : record.job.nodes)
        message.nodes += (message.nodes.empty() ? "" : ",") + node;
    if (says_cpus && type == HookMessage::Type::allocated)
        message.cpus = record.job.cpus;
    message.ours = is_ours(record);
    bool component = record.leader != 0 && record.leader != message.job.id;
    message.batch = !record.job.tag.script.empty() && !component;
    if (type == HookMessage::Type::allocated)
        for (const std::string &node : record.job.nodes)
            if (is_dirty(node))
                message.dirty += (message.dirty.empty() ? "" : ",") + node;
    hooks(message);
}

} // namespace bridge
