// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/calls/volume_list.h"

#include <exception>
#include <iterator>
#include <utility>

namespace bridge {

namespace {

Result<VolumeList::Known> read_safely(const VolumeList::Read &read)
{
    try {
        return read();
    } catch (const std::exception &e) { // such as out of memory
        return fail(Code::busy, e.what());
    }
}

} // namespace

Result<VolumeList::View> VolumeList::view(Clock::time_point now,
                                          const Read &read)
{
    std::unique_lock lock(mutex_);
    const bool old =
        now - began_ >= (last_ ? max_age : failure_pause) || (last_ && !*last_);
    if (old && !std::exchange(reading_, true)) {
        lock.unlock();
        auto fresh = read_safely(read);
        lock.lock();
        take(std::move(fresh), now);
    }
    if (!last_)
        return std::unexpected(last_.error());
    if (!*last_)
        return fail(Code::busy, "the volumes are being listed");
    View view{*last_, {}};
    for (const auto &[volume, given] : given_)
        view.given.emplace(volume, given.claim);
    return view;
}

void VolumeList::take(Result<Known> read, Clock::time_point began)
{
    reading_ = false;
    began_ = began;
    if (!read) {
        last_ = std::unexpected(std::move(read).error());
        return;
    }
    last_ = std::make_shared<const Known>(std::move(*read));
    std::erase_if(given_, [&](const auto &known) {
        return began - known.second.when >= given_time;
    });
}

void VolumeList::give(const std::string &volume, const std::string &claim,
                      Clock::time_point now)
{
    std::lock_guard lock(mutex_);
    given_.insert_or_assign(volume, Given{claim, now});
}

void add_volume(VolumeList::Known &known, Volume volume)
{
    if (volume.deleting)
        return;
    std::string name = volume.name;
    if (!volume.claimed_by.empty()) {
        known.meant.emplace(
            std::move(volume.claimed_by),
            VolumeList::Known::Meant{std::move(name),
                                     std::move(volume.claimed_uid)});
    } else if (volume.phase == "Available") {
        known.free.emplace(std::move(name), std::move(volume));
        if (known.free.size() > VolumeList::most_free)
            known.free.erase(std::prev(known.free.end()));
    }
}

} // namespace bridge
