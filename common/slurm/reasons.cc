// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/slurm/reasons.h"

#include <algorithm>
#include <format>
#include <optional>

namespace bridge {

namespace {

constexpr char wait_or_ask_less[] =
    "Wait for it; a Pod that asks for less, or names a shorter time limit, may "
    "start earlier.";
constexpr char ask_admin[] = "An administrator of Slurm has to change it.";
constexpr char new_pod[] =
    "Delete the Pod and create it again with a request that Slurm can meet, or "
    "ask an administrator of Slurm to raise the limit.";

struct Known {
    const char *word;
    const char *meaning;
    const char *remedy;
};

// The reasons are those of Slurm's job_state_reason.c. The texts for the about
// two hundred limits of associations and QOS are composed below.
constexpr Known known[] = {
    {"None", "slurmctld has not looked at the job yet",
     "Wait for the scheduler's next look."},
    {"Priority", "jobs of higher priority wait before it in the partition",
     wait_or_ask_less},
    {"Resources",
     "it is at the head of the queue, and what it asks for is not free",
     wait_or_ask_less},
    {"ReqNodeNotAvail",
     "every node that could take it is drained, down, reserved or in use for "
     "longer",
     "Bring a node back (sinfo -R says why they are out: kubectl uncordon, or "
     "scontrol update State=RESUME), or wait for one."},
    {"NodeDown", "a node that it needs is down",
     "Bring the node back: sinfo -R says why it is out."},
    {"JobHeldUser", "its user holds it", "scontrol release JOBID."},
    {"JobHeldAdmin", "an administrator holds it, or its priority is 0",
     "An administrator: scontrol release JOBID."},
    {"JobHoldMaxRequeue", "it was requeued too often, and is held",
     "An administrator: scontrol release JOBID."},
    {"BeginTime", "it must not start before a given time", "Wait until then."},
    {"Dependency", "it waits for other jobs to end",
     "Wait for them: squeue --Format=JobID,Dependency names them."},
    {"DependencyNeverSatisfied",
     "a job that it depends on ended otherwise than it demands",
     "It will never start: cancel it."},
    {"Licenses", "not enough licenses are free", "Wait for licenses."},
    {"PartitionTimeLimit", "its time limit is longer than the partition's",
     "Give the Pod a shorter time limit (activeDeadlineSeconds, or the "
     "annotation timelimit), or another partition."},
    {"PartitionNodeLimit", "it asks for more nodes than the partition allows",
     "Ask for fewer nodes, or for another partition."},
    {"PartitionDown", "its partition is down", ask_admin},
    {"PartitionInactive", "its partition is inactive", ask_admin},
    {"PartitionConfig",
     "no node of its partition is large enough, or has what it asks for",
     "Ask for less, or for another partition."},
    {"BadConstraints", "no node can have the features that it asks for",
     new_pod},
    {"Constraints", "no free node has the features that it asks for",
     wait_or_ask_less},
    {"AccountNotAllowed", "its account may not use this partition or QOS",
     "Use another account or partition, or ask an administrator of Slurm."},
    {"QOSNotAllowed", "its QOS may not be used in this partition",
     "Use another QOS or partition, or ask an administrator of Slurm."},
    {"InvalidAccount", "its account does not exist any more", ask_admin},
    {"InvalidQOS", "its QOS does not exist any more", ask_admin},
    {"AccountingPolicy", "a limit of its association or QOS forbids it",
     new_pod},
    {"Reservation", "its reservation has not begun", "Wait for it."},
    {"ReservationDeleted", "its reservation was deleted",
     "Delete the Pod, and create it again without the reservation."},
    {"ReservationInvalid", "its user may not use the reservation",
     "Delete the Pod, and create it again without the reservation."},
    {"MaxMemPerLimit", "it asks for more memory than Slurm's limit", new_pod},
    {"DeadLine", "it cannot end before its deadline any more", new_pod},
    {"SchedDefer", "slurmctld puts scheduling off while it is busy",
     "Wait for the scheduler's next look."},
    {"Cleaning", "its last run is still being cleaned up", "Wait for it."},
    {"Prolog", "a prolog is still running", "Wait for it."},
    {"QOSUsageThreshold", "its share of the machine is used up",
     "Wait until its usage has decayed, or use another QOS."},
};

// Returns "ReqNodeNotAvail" for "ReqNodeNotAvail, UnavailableNodes:kn1".
std::string_view first_word(std::string_view reason)
{
    return reason.substr(0, reason.find_first_of(", ("));
}

struct Prefix {
    std::string_view word;
    const char *owner;
};

constexpr Prefix owners[] = {{"AssocGrp", "all jobs of its account together"},
                             {"AssocMax", "its user in this account"},
                             {"AssociationJob", "its association"},
                             {"AssociationResource", "its association"},
                             {"AssociationTime", "its association"},
                             {"QOSGrp", "all jobs of its QOS together"},
                             {"QOSMax", "its QOS"},
                             {"QOSMin", "its QOS (a minimum)"},
                             {"QOSJob", "its QOS"},
                             {"QOSResource", "its QOS"},
                             {"QOSTime", "its QOS"},
                             {"Max", "its QOS"}};

constexpr std::pair<std::string_view, const char *> amounts[] = {
    {"CPUMinutes", "CPU minutes"},
    {"CPURunMinutes", "CPU minutes of running "
                      "jobs"},
    {"SubmitJob", "jobs submitted"},
    {"Jobs", "running jobs"},
    {"Cpu", "CPUs"},
    {"CPU", "CPUs"},
    {"Mem", "memory"},
    {"Node", "nodes"},
    {"GRES", "devices (GRES)"},
    {"Wall", "run time"},
    {"Time", "run time"},
    {"License", "licenses"},
    {"Billing", "billing"},
    {"Energy", "energy"},
    {"Job", "jobs"}};

constexpr std::pair<std::string_view, const char *> scopes[] = {
    {"PerUser", " (for each user)"},
    {"PerAccount", " (for each account)"},
    {"PerJob", " (for each job)"},
    {"PerNode", " (for each node)"}};

// Tells whether the end of other jobs cannot help.
bool lasting(std::string_view limit)
{
    return limit.contains("PerJob") || limit.contains("PerNode") ||
           limit.starts_with("QOSMin");
}

std::optional<ReasonExplanation> explain_limit(std::string_view limit)
{
    auto owner = std::ranges::find_if(
        owners, [&](const Prefix &p) { return limit.starts_with(p.word); });
    if (owner == std::end(owners))
        return std::nullopt;
    auto names = [&](const auto &entry) { return limit.contains(entry.first); };
    auto amount = std::ranges::find_if(amounts, names);
    auto scope = std::ranges::find_if(scopes, names);
    std::string meaning = std::format(
        "a limit on {} of {}{} forbids it",
        amount == std::end(amounts) ? "resources" : amount->second,
        owner->owner, scope == std::end(scopes) ? "" : scope->second);
    if (lasting(limit))
        return ReasonExplanation{meaning, new_pod};
    return ReasonExplanation{
        meaning, "Wait until jobs that count against the limit have "
                 "ended, or ask an administrator of Slurm to raise it."};
}

} // namespace

ReasonExplanation explain_reason(std::string_view reason)
{
    std::string_view word = first_word(reason);
    for (const Known &entry : known)
        if (word == entry.word)
            return {entry.meaning, entry.remedy};
    if (auto words = explain_limit(word))
        return *words;
    return {{}, "See squeue(1), JOB REASON CODES, for what Slurm means by it."};
}

std::string reason_class(std::string_view reason)
{
    std::string_view word = first_word(reason);
    for (std::string_view in_line :
         {"None", "Priority", "Resources", "SchedDefer", "Cleaning", "Prolog"})
        if (word == in_line)
            return "Priority";
    return std::string(word);
}

bool wants_nodes(std::string_view reason)
{
    constexpr std::string_view of_nodes[] = {"Resources", "ReqNodeNotAvail",
                                             "NodeDown", "PartitionConfig",
                                             "Constraints"};
    return std::ranges::contains(of_nodes, first_word(reason));
}

bool is_own_wish(std::string_view reason)
{
    constexpr std::string_view wishes[] = {
        "JobHeldUser", "JobHeldAdmin", "JobHoldMaxRequeue",
        "BeginTime",   "Dependency",   "DependencyNeverSatisfied"};
    return std::ranges::contains(wishes, first_word(reason));
}

} // namespace bridge
