// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/daemon/lease.h"

#include "common/base/read_file.h"

#include <format>
#include <functional>
#include <random>

namespace bridge {

namespace {

// The id differs between machines and between their boots.
std::string boot_id()
{
    constexpr std::size_t longest = 4096; // bytes
    auto text = read_file("/proc/sys/kernel/random/boot_id", longest);
    return text ? text->substr(0, text->find('\n')) : std::string();
}

std::string random_name()
{
    std::random_device random;
    return std::format("{:08x}{:08x}", random(), random());
}

} // namespace

std::string LeaseHolder::str() const
{
    return host + "_" + place + "_" + instance;
}

bool LeaseHolder::same_place(const std::string &holder) const
{
    return holder.starts_with(host + "_" + place + "_");
}

std::string holder_host(const std::string &holder)
{
    return holder.substr(0, holder.find('_'));
}

LeaseHolder this_holder(const std::string &host, const std::string &socket_path)
{
    std::size_t place = std::hash<std::string>{}(boot_id() + socket_path);
    return {host, std::format("{:016x}", place), random_name()};
}

void LeaseWatch::see(const LeaseRecord &record, BootClock::time_point now)
{
    if (record == record_ && changed_ != BootClock::time_point{})
        return;
    record_ = record;
    changed_ = now;
}

bool LeaseWatch::expired(BootClock::time_point now) const
{
    return now - changed_ >= record_.duration;
}

LeaseMove lease_move(const LeaseRecord &record, const LeaseHolder &us,
                     bool holding, bool expired, Control control)
{
    if (record.holder == us.str())
        return control == Control::others ? LeaseMove::give_back
                                          : LeaseMove::renew;
    if (holding)
        return LeaseMove::lost;
    if (control != Control::ours)
        return LeaseMove::wait;
    bool free = record.holder.empty() || us.same_place(record.holder);
    return free || expired ? LeaseMove::take : LeaseMove::wait;
}

LeaseRecord taken(const LeaseRecord &record, const LeaseHolder &us,
                  const std::string &time)
{
    LeaseRecord next = record;
    if (record.holder != us.str()) {
        next.holder = us.str();
        next.acquired = time;
        if (!record.version.empty())
            next.transitions++;
    }
    next.duration = lease_duration;
    next.renewed = time;
    return next;
}

LeaseRecord given_back(const LeaseRecord &record, const std::string &time)
{
    LeaseRecord next = record;
    next.holder.clear();
    // the shortest duration that is allowed
    next.duration = std::chrono::seconds(1);
    next.renewed = time;
    return next;
}

} // namespace bridge
