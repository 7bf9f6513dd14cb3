// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/explain_page.h"

#include "common/base/text.h"

#include <format>

namespace bridge {

namespace {

constexpr std::size_t longest_name = 63 + 1 + 253; // NAMESPACE/NAME

WebReply refuse(int status, const std::string &reason)
{
    return {status, JsonValue::object({{"error", reason}}).dump()};
}

int status_of(Code code)
{
    switch (code) {
    case Code::not_found:
        return 404;
    case Code::conflict:
        return 409;
    default:
        return 503;
    }
}

JobId job_id_of(const std::string &text)
{
    return whole_number<JobId>(text).value_or(0);
}

} // namespace

Result<JobDetails> ExplainPage::load(JobId id)
{
    if (!loads_.try_acquire())
        return fail(Code::busy,
                    "slurmctld is slow, and other requests wait for it");
    auto details = slurm_.load_details(id);
    loads_.release();
    return details;
}

WebReply ExplainPage::answer_past(JobId id)
{
    auto details = load(id);
    if (!details && details.error().code == Code::not_found)
        return refuse(404, std::format("neither Slurm nor the agent knows job "
                                       "{}",
                                       id));
    if (!details)
        return refuse(503, details.error().message);
    if (details->job.tag.uid.empty())
        return refuse(404, std::format("job {0} does not belong to a Pod: see "
                                       "scontrol show job {0}",
                                       id));
    return {200, explain_past(*details).dump()};
}

WebReply ExplainPage::answer(const std::string &pod, const std::string &job)
{
    JobId id = job_id_of(job);
    if (pod.empty() == job.empty() || (!job.empty() && id == 0) ||
        pod.size() > longest_name)
        return refuse(400, "ask for ?pod=NAME, ?pod=NAMESPACE/NAME or ?job=ID");
    auto story = ask_owner_({pod, id});
    if (!story && id != 0 && story.error().code == Code::not_found)
        return answer_past(id);
    if (!story)
        return refuse(status_of(story.error().code), story.error().message);
    std::optional<JobDetails> details;
    JsonValue slurm;
    if (story->gang.job) {
        auto loaded = load(story->gang.job->ref.id);
        if (loaded)
            details = std::move(*loaded);
        else
            slurm = loaded.error().message;
    }
    JsonValue json = explain(*story, details);
    if (story->gang.job && !details)
        json.add("slurmError", std::move(slurm));
    return {200, json.dump()};
}

} // namespace bridge
