// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/session/job_pod.h"

#include "common/base/text.h"
#include "common/contract/batch_names.h"
#include "common/contract/names.h"
#include "common/kube/status.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace bridge {

namespace {

// The values to compare. Times in RFC 3339 sort like text.
struct Candidate {
    JobPod pod;
    std::string mark; // the same for all Pods of a job
    std::string created;
    std::uint32_t rank = 0;
};

std::optional<Candidate> candidate_in(const Json &pod)
{
    Json metadata = pod.at("metadata");
    Json annotations = metadata.at("annotations");
    Candidate found;
    found.mark = annotations.member(names::batch_annotation).text();
    found.created = metadata.text("creationTimestamp");
    std::string rank = annotations.member(names::rank_annotation).text();
    found.rank = whole_number<std::uint32_t>(rank).value_or(0);
    found.pod = {metadata.text("namespace"), metadata.text("name"),
                 names::batch_container, pod.text("status/phase"), 0};
    std::int64_t user =
        pod.integer("spec/securityContext/runAsUser").value_or(0);
    if (found.mark.empty() || found.pod.name.empty() || user <= 0 ||
        user > std::numeric_limits<std::uint32_t>::max())
        return std::nullopt;
    found.pod.user_id = static_cast<std::uint32_t>(user);
    return found;
}

std::vector<Candidate> candidates_in(const std::vector<Json> &pods)
{
    std::vector<Candidate> all;
    for (const Json &pod : pods)
        if (auto found = candidate_in(pod))
            all.push_back(std::move(*found));
    return all;
}

} // namespace

std::string JobPod::path() const
{
    return "/api/v1/namespaces/" + url_encode(ns) + "/pods/" + url_encode(name);
}

std::optional<JobPod> newest_job_pod(const std::vector<Json> &pods)
{
    auto all = candidates_in(pods);
    auto newest = std::ranges::max_element(all, {}, &Candidate::created);
    if (newest == all.end())
        return std::nullopt;
    std::string mark = newest->mark;
    std::erase_if(all, [&](const Candidate &one) { return one.mark != mark; });
    return std::ranges::min_element(all, {},
                                    [](const Candidate &one) {
                                        return std::tie(one.rank, one.pod.name);
                                    })
        ->pod;
}

Result<JobPod> find_job_pod(Http &http,
                            const std::vector<std::string> &namespaces,
                            std::uint32_t job)
{
    std::string id = std::to_string(job);
    std::vector<Json> pods;
    for (const std::string &ns : namespaces) {
        auto list =
            object_in(http.get("/api/v1/namespaces/" + url_encode(ns) +
                               "/pods?labelSelector=" +
                               url_encode(names::job_id_label + ("=" + id))),
                      "list the Pods of job " + id);
        if (!list)
            return std::unexpected(list.error());
        for (Json &pod : list->items("items"))
            pods.push_back(std::move(pod));
    }
    if (auto found = newest_job_pod(pods))
        return std::move(*found);
    return fail(
        Code::not_found,
        "job " + id +
            " has no Pod of sbatch on a node: it waits, does not run as a Pod, "
            "or its Pod has been removed. See squeue and scontrol show job " +
            id + ", which also shows its output file (StdOut)");
}

bool may_use(const JobPod &pod, uid_t caller, uid_t slurm_user)
{
    return caller == pod.user_id || caller == 0 || caller == slurm_user;
}

} // namespace bridge
