// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/job_submit/group_watch.h"

#include "plugins/job_submit/group_lookup.h"
#include "plugins/shared/signals_blocked.h"

#include <exception>
#include <pthread.h>
#include <thread>

extern "C" {
#include <slurm/spank.h> // slurm_debug()
}

namespace bridge {

namespace {

using namespace std::chrono_literals;
constexpr auto shortest = 1s; // between two rounds, whatever is asked
constexpr auto longest = 30s; // until what is old is looked up

template <class T> Result<T> told(Result<T> answer, const std::string &of)
{
    if (!answer)
        slurm_debug("job_submit/k8s: the groups of partitions: %s: %s",
                    of.c_str(), answer.error().message.c_str());
    return answer;
}

[[noreturn]] void run()
{
    const GroupBook::Database database{
        [](const std::string &group) {
            return told(look_up_members(group), "group " + group);
        },
        [](std::uint32_t user) {
            return told(look_up_primary_group(user),
                        "user " + std::to_string(user));
        }};
    for (;;) {
        try {
            burst_groups().look_up(database);
        } catch (const std::exception &e) { // such as no memory
            slurm_debug("job_submit/k8s: cannot look up groups: %s", e.what());
        }
        std::this_thread::sleep_for(shortest);
        burst_groups().wait(longest);
    }
}

} // namespace

GroupBook &burst_groups()
{
    static GroupBook &book = *new GroupBook;
    return book;
}

void watch_burst_groups(const std::set<std::string> &groups)
{
    static bool runs = false;
    burst_groups().keep(groups);
    if (runs || groups.empty())
        return;
    SignalsBlocked blocked;
    std::thread([] {
        pthread_setname_np(pthread_self(), "k8s_groups");
        run();
    }).detach();
    runs = true;
}

} // namespace bridge
