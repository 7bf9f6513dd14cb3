// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/workers/conf_keeper.h"

#include "common/base/log.h"
#include "common/base/read_file.h"
#include "common/contract/worker_names.h"

#include <algorithm>
#include <cerrno>
#include <sys/stat.h>

namespace bridge {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t longest_hash = 256; // bytes of the file
// So that slurmctld is started in a later second than the files have.
constexpr std::chrono::seconds settle = 2s;
// For slurmctld to answer again, before it is asked once more.
constexpr std::chrono::seconds patience = 10s;

// The link by which a kubelet replaces all files of a volume at once.
std::string data_link(const std::string &path)
{
    return path.substr(0, path.rfind('/') + 1) + "..data";
}

std::string first_word(const std::string &text)
{
    auto end = std::ranges::find_if(
        text, [](unsigned char c) { return c <= ' ' || c > '~'; });
    return {text.begin(), end};
}

} // namespace

Result<ConfMark> read_conf_mark(const std::string &path)
{
    struct stat info{};
    // Before the text: files that are replaced meanwhile seem older then, and
    // are looked at again.
    if (lstat(data_link(path).c_str(), &info) != 0 &&
        stat(path.c_str(), &info) != 0)
        return fail(Code::not_found, path + " cannot be read");
    auto text = read_file(path, longest_hash);
    if (!text)
        return fail(text.error(), path);
    return ConfMark{
        first_word(*text),
        std::chrono::sys_seconds(std::chrono::seconds(info.st_ctime))};
}

ConfStep plan_conf(std::chrono::sys_seconds replaced, std::uint64_t started,
                   std::chrono::sys_seconds now)
{
    auto since = std::chrono::sys_seconds(std::chrono::seconds(started));
    if (since > replaced)
        return ConfStep::none;
    return now < replaced + settle ? ConfStep::wait : ConfStep::reconfigure;
}

Result<> ConfKeeper::turn(std::chrono::sys_seconds now)
{
    if (file_.empty())
        return {};
    auto mark = read_conf_mark(file_);
    if (!mark)
        return std::unexpected(mark.error());
    if (mark->hash != read_) {
        auto cluster = slurm_.load_cluster();
        if (!cluster)
            return std::unexpected(cluster.error());
        switch (plan_conf(mark->replaced, cluster->started, now)) {
        case ConfStep::wait:
            return {};
        case ConfStep::reconfigure:
            return reconfigure(*mark, now);
        case ConfStep::none:
            break;
        }
        log_info("slurmctld has read its configuration",
                 {{"hash", mark->hash}});
        read_ = mark->hash;
        asked_.reset();
    }
    return tell({"True", "Configured", mark->hash});
}

Result<> ConfKeeper::reconfigure(const ConfMark &mark,
                                 std::chrono::sys_seconds now)
{
    if (asked_ && now < *asked_ + patience)
        return {};
    if (auto said = tell({"False", "Reconfigures", mark.hash}); !said)
        return said;
    log_info("slurmctld is reconfigured", {{"hash", mark.hash}});
    asked_ = now;
    read_.clear(); // from here on nobody knows
    return slurm_.reconfigure();
}

Result<> ConfKeeper::tell(const WorkerCondition &said)
{
    auto before = pod_.conditions.find(names::configured_condition);
    if (pod_.uid.empty() ||
        (before != pod_.conditions.end() && before->second == said))
        return {};
    WorkerPatch patch;
    patch.conditions[names::configured_condition] = said;
    if (auto written = kube_.patch(pod_, patch); !written)
        return written;
    pod_.conditions[names::configured_condition] = said;
    return {};
}

} // namespace bridge
