// SPDX-License-Identifier: GPL-2.0-or-later
// Objects that define the size of gangs (PodGroups, JobSets): what they say of
// a gang, and what is written to their status. Owner thread only.
#pragma once

#include "agent/gang/group_reports.h"
#include "agent/gang/group_table.h"
#include "agent/owner/agenda.h"
#include "agent/owner/context.h"
#include "agent/owner/errands.h"

#include <chrono>
#include <deque>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace bridge {

class Groups {
  public:
    Groups(const Context &context, const Errands &errands, Agenda &agenda,
           GangStore &gangs)
        : context_(context), errands_(errands), agenda_(agenda), gangs_(gangs),
          table_(context.ports.group_apis)
    {
    }

    const GroupTable &table() const { return table_; }

    // The watches show these objects. Gangs that they concern are woken, and
    // released if the objects say that they are no gangs.
    void take(GroupsListed &groups);
    void take(Changed<GroupSpec> &group);

    // The Pod is as the watch shows it, or gone. pod.gang must still list all
    // groups that it names.
    void note(const Pod &pod) { reports_.put(pod, context_.now); }
    void forget(const std::string &pod) { reports_.remove(pod, context_.now); }

    // Which gang counts of those that the Pod names.
    GangKeyPtr gang_of(const Pod &pod) const;
    // Makes these Pods (uids) gangs of their own.
    void split(const std::vector<std::string> &pods);

    // Sets what decide() must know of the gang's size.
    void update_terms(Gang &gang) const;
    // How long some Pods keep their nodes while others have none.
    std::chrono::seconds short_time(const Gang &gang) const;

    // Sets the condition of Kubernetes' own PodGroup that says whether it is
    // scheduled, to the message that its Pods show while they wait. Writes of
    // one PodGroup follow each other, and another reason is not written within
    // a second of the last one.
    void report(const std::string &gang);
    // Writes the status of scheduler-plugins' PodGroups that are due, in
    // clusters where its controller does not run. Wakes gangs whose condition
    // has waited for its second.
    void report_due();
    Clock::time_point due() const;

  private:
    // The last write of a gang's condition, while another one has to wait.
    struct Sent {
        std::string status;
        Clock::time_point rests_until{};
        bool in_flight = true;
        bool more = false; // another one waits
    };

    const GroupSpec *group_of(const Gang &gang) const;
    void update_group_terms(Gang &gang, const GangKey &key) const;
    void wake(GroupApi api);
    void regroup(const std::string &uid);
    void send(GangEntry &entry, const GroupSpec &group,
              ScheduledCondition condition);
    bool must_wait(const std::string &uid, const std::string &status);
    void sent(const std::string &uid, const Result<> &said);
    void end_rest(const std::string &uid);
    void untold(const std::string &uid, const Error &error);

    const Context &context_;
    const Errands &errands_;
    Agenda &agenda_;
    GangStore &gangs_;
    GroupTable table_;
    GroupReports reports_;
    std::unordered_map<std::string, Sent> sent_; // by the gang's uid
    // When each write ends its rest, in the order of time.
    std::deque<std::pair<Clock::time_point, std::string>> resting_;
};

} // namespace bridge
