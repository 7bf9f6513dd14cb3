// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/batch/srun_maps.h"

#include "agent/batch/srun.h"

#include <sys/stat.h>
#include <utility>

namespace bridge {

std::optional<SrunMaps::FileState> SrunMaps::state_of(const std::string &path)
{
    struct stat file;
    if (stat(path.c_str(), &file) != 0)
        return std::nullopt;
    return FileState{file.st_dev, file.st_ino, file.st_size,
                     file.st_mtim.tv_sec, file.st_mtim.tv_nsec};
}

// The state is taken before the file is read: if the file is written meanwhile,
// it is read again next time.
Result<SrunProgramPtr> SrunMaps::program(const std::string &path)
{
    auto state = state_of(path);
    std::lock_guard lock(mutex_);
    if (program_ && state && path == path_ && state == state_)
        return program_;
    auto bytes = read_srun(path);
    if (!bytes)
        return std::unexpected(bytes.error());
    std::string name = srun_map_name(*bytes);
    program_ =
        std::make_shared<const SrunProgram>(std::move(*bytes), std::move(name));
    path_ = path;
    state_ = state;
    return program_;
}

// The mutex must be held.
bool SrunMaps::will_do(const std::string &ns, const std::string &name,
                       Clock::time_point now) const
{
    auto found = seen_.find(ns);
    if (found == seen_.end() || found->second.name != name)
        return false;
    auto age = now - found->second.looked;
    return age <
           (being_checked_.contains(ns) ? 2 * map_believed : map_believed);
}

bool SrunMaps::begin_check(const std::string &ns, const std::string &name,
                           const SrunLook &look)
{
    std::lock_guard lock(mutex_);
    if (look.recent_will_do && will_do(ns, name, look.now))
        return false;
    being_checked_.insert(ns);
    return true;
}

void SrunMaps::end_check(const std::string &ns)
{
    std::lock_guard lock(mutex_);
    being_checked_.erase(ns);
}

std::optional<SeenMap> SrunMaps::seen(const std::string &ns) const
{
    std::lock_guard lock(mutex_);
    auto found = seen_.find(ns);
    if (found == seen_.end())
        return std::nullopt;
    return found->second;
}

void SrunMaps::record_seen(const std::string &ns, SeenMap seen)
{
    std::lock_guard lock(mutex_);
    seen_[ns] = std::move(seen);
    refused_.erase(ns);
}

void SrunMaps::forget(const std::string &ns)
{
    std::lock_guard lock(mutex_);
    seen_.erase(ns);
}

void SrunMaps::refuse(const std::string &ns, std::string reason,
                      Clock::time_point now)
{
    std::lock_guard lock(mutex_);
    refused_[ns] = {std::move(reason), now};
}

std::optional<std::string> SrunMaps::refused(const std::string &ns,
                                             Clock::time_point now) const
{
    std::lock_guard lock(mutex_);
    auto found = refused_.find(ns);
    if (found == refused_.end() ||
        now - found->second.since >= refusal_lifetime)
        return std::nullopt;
    return found->second.reason;
}

} // namespace bridge
