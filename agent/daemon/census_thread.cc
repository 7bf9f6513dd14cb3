// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/daemon/census_thread.h"

#include "common/base/backoff.h"
#include "common/base/log.h"
#include "common/base/read_file.h"
#include "common/base/replace_file.h"
#include "common/base/user_name.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <exception>
#include <expected>
#include <optional>
#include <unistd.h>
#include <utility>
#include <vector>

namespace bridge {

namespace {

constexpr std::size_t longest_file = 64UL * 1024 * 1024; // bytes
constexpr std::chrono::hours name_life{1};               // of users
constexpr std::chrono::seconds name_time{1};             // for asking for them
constexpr std::chrono::minutes associations_life{1};

// Whether that is certain, and not only that nobody may look.
bool is_absent(const std::string &path)
{
    return access(path.c_str(), F_OK) != 0 && errno == ENOENT;
}

template <class Value> Result<> keep(Result<Value> said, Value &into)
{
    if (!said)
        return std::unexpected(said.error());
    into = std::move(*said);
    return {};
}

template <class Function> void guarded(Function function)
{
    try {
        function();
    } catch (const std::exception &e) { // such as out of memory
        log_error("Slurm could not be counted", {{"err", e.what()}});
    }
}

std::uint64_t number(std::chrono::seconds time)
{
    return static_cast<std::uint64_t>(time.count());
}

} // namespace

CensusThread::CensusThread(SlurmCensus &slurm, SlurmMetrics &metrics,
                           std::chrono::seconds wanted, bool users,
                           std::string file)
    : slurm_(slurm), metrics_(metrics), wanted_(wanted), users_(users),
      file_(std::move(file)),
      thread_([this](const std::stop_token &stop) { run(stop); })
{
}

void CensusThread::run(const std::stop_token &stop)
{
    guarded([this] {
        if (users_)
            last_.people.emplace();
        load();
    });
    while (!stop.stop_requested()) {
        guarded([this] { count(); });
        wait_for(interval(), stop);
    }
}

void CensusThread::count()
{
    auto taken = take();
    metrics_.set(taken ? *taken : nullptr);
    std::string error = taken ? std::string() : taken.error().message;
    if (reported_.is_news(error))
        log_warning("metrics have no numbers of Slurm", {{"err", error}});
}

Result<std::shared_ptr<const SlurmSnapshot>> CensusThread::take()
{
    Result<> done = count_nodes();
    if (done)
        done = count_jobs();
    if (done)
        done = keep(slurm_.ask_scheduler(), last_.scheduler);
    if (done)
        done = keep(slurm_.ask_conf(), last_.conf);
    if (done)
        done = keep(slurm_.count_reservations(), last_.reservations);
    if (done)
        done = keep(slurm_.count_licenses(), last_.licenses);
    if (!done)
        return std::unexpected(done.error());
    last_.taken = std::chrono::floor<std::chrono::seconds>(
        std::chrono::system_clock::now());
    if (users_)
        count_associations();
    name_users();
    return std::make_shared<const SlurmSnapshot>(last_);
}

Result<> CensusThread::count_nodes()
{
    auto nodes = slurm_.count_nodes(nodes_as_of_);
    if (!nodes)
        return std::unexpected(nodes.error());
    auto partitions = slurm_.count_partitions();
    if (!partitions)
        return std::unexpected(partitions.error());
    if (*nodes) {
        nodes_as_of_ = (*nodes)->as_of;
        draining_users_.clear();
        for (const CountedNode &node : (*nodes)->nodes)
            if (!node.reason.empty())
                draining_users_.insert(node.reason_user);
        last_.numbers.set_nodes(std::move((*nodes)->nodes));
    }
    last_.numbers.set_partitions(*partitions);
    return {};
}

Result<> CensusThread::count_jobs()
{
    metrics_.change([](JobHistory &history) { history.begin_list(); });
    last_.numbers.forget_jobs();
    if (last_.people)
        last_.people->forget_jobs();
    auto listed =
        slurm_.count_jobs([this](const CountedJob &job) { count_job(job); });
    if (!listed)
        return std::unexpected(listed.error());
    metrics_.change([](JobHistory &history) { history.end_list(); });
    save(); // at once: what somebody has seen must not be less after a kill
    return {};
}

void CensusThread::count_job(const CountedJob &job)
{
    const JobUse its = use_of(job);
    last_.numbers.add(job, its);
    if (last_.people)
        last_.people->add(job, its);
    metrics_.change([&](JobHistory &history) { history.see(job); });
}

// The reply is long, and the rest is true without it.
void CensusThread::count_associations()
{
    auto now = std::chrono::steady_clock::now();
    if (now < associations_due_)
        return;
    auto associations = slurm_.count_associations();
    std::string error =
        associations ? std::string() : associations.error().message;
    if (associations_reported_.is_news(error))
        log_warning("metrics have no shares of users", {{"err", error}});
    if (associations)
        associations_due_ = now + associations_life;
    last_.people->set_associations(associations
                                       ? std::move(*associations)
                                       : std::vector<CountedAssociation>());
}

// A directory server may be slow, so each name is asked for once an hour, and
// only for a while at once; others keep the name that they had, or have their
// number.
void CensusThread::name_users()
{
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    auto name = [&](std::uint32_t user) {
        auto &asked = named_[user];
        bool known = asked != Clock::time_point{} && begin - asked < name_life;
        if (known || Clock::now() - begin > name_time)
            return;
        asked = begin;
        std::string found = user_name(user);
        // Where the directory does not answer, the number comes back.
        if (found != std::to_string(user) || !last_.users.contains(user))
            last_.users[user] = std::move(found);
    };
    std::ranges::for_each(draining_users_, name);
    if (last_.people)
        last_.people->each_user(name);
}

// Without an answer of slurmctld, as it was last.
std::chrono::seconds CensusThread::interval()
{
    std::chrono::seconds found =
        census_interval(wanted_, last_.conf.min_job_age);
    if (found < wanted_ && !std::exchange(warned_, true))
        log_warning("MetricsInterval is longer than half of MinJobAge: Slurm "
                    "is counted more often, so that no job is missed",
                    {{"MetricsInterval", number(wanted_)},
                     {"MinJobAge", number(last_.conf.min_job_age)},
                     {"seconds", number(found)}});
    return found;
}

void CensusThread::load()
{
    if (is_absent(directory_of(file_))) {
        log_info("the counts of jobs are not kept for the next start: their "
                 "directory does not exist",
                 {{"path", file_}});
        return;
    }
    if (is_absent(file_)) { // the first agent here
        keeps_ = true;
        return;
    }
    auto text = read_file(file_, longest_file);
    if (!text) {
        log_warning("the counts of jobs begin anew and are not kept: those of "
                    "before cannot be read",
                    {{"path", file_}, {"err", text.error().message}});
        return;
    }
    JobHistory restored;
    keeps_ = true;
    if (auto known = restored.restore(*text); !known) {
        log_warning("the counts of jobs begin anew: the file has none",
                    {{"path", file_}, {"err", known.error().message}});
        return;
    }
    metrics_.change(
        [&](JobHistory &history) { history = std::move(restored); });
}

void CensusThread::save()
{
    if (!keeps_)
        return;
    auto kept = metrics_.change(
        [](const JobHistory &history) { return history.kept(); });
    std::string text = kept ? kept->encode() : saved_;
    if (text == saved_)
        return;
    auto written = replace_file(file_, text, {.mode = 0600});
    std::string error = written ? std::string() : written.error().message;
    if (save_reported_.is_news(error))
        log_warning("the counts of jobs are not kept",
                    {{"path", file_}, {"err", error}});
    if (written)
        saved_ = std::move(text);
}

} // namespace bridge
