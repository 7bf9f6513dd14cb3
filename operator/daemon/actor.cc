// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/daemon/actor.h"

#include "common/base/log.h"
#include "common/contract/worker_names.h"
#include "common/kube/text.h"

#include <chrono>
#include <format>
#include <utility>

namespace bridge::slinky {

namespace {

constexpr char apply_type[] = "application/apply-patch+yaml";
constexpr char merge_type[] = "application/merge-patch+json";
constexpr std::size_t longest_note = 1000; // bytes; 1024 are allowed

const char *failed_reason(Step::Verb verb)
{
    switch (verb) {
    case Step::Verb::create:
        return "FailedCreate";
    case Step::Verb::remove:
        return "FailedDelete";
    case Step::Verb::apply:
    case Step::Verb::patch:
        break;
    }
    return "FailedUpdate";
}

std::string event_body(const Told &told, const About &about,
                       const std::string &instance, std::uint64_t number)
{
    auto now = std::chrono::system_clock::now();
    const Meta &meta = about.meta;
    auto regarding = JsonValue::object({{"apiVersion", names::slinky_version},
                                        {"kind", about.kind},
                                        {"namespace", meta.key.ns},
                                        {"name", meta.key.name},
                                        {"uid", meta.uid}});
    auto name = std::format("{}.{:x}{:x}", meta.key.name,
                            now.time_since_epoch().count(), number);
    auto metadata =
        JsonValue::object({{"name", name}, {"namespace", meta.key.ns}});
    return JsonValue::object({{"apiVersion", "events.k8s.io/v1"},
                              {"kind", "Event"},
                              {"metadata", std::move(metadata)},
                              {"eventTime", micro_time(now)},
                              {"reportingController", "slurmk8s/operator"},
                              {"reportingInstance", clean_text(instance, 128)},
                              {"action", "Reconcile"},
                              {"reason", told.reason},
                              {"type", told.warning ? "Warning" : "Normal"},
                              {"note", clean_text(told.note, longest_note)},
                              {"regarding", std::move(regarding)}})
        .dump();
}

} // namespace

Actor::Actor(const HttpEndpoint &endpoint, const Leader &leader,
             Metrics &metrics, std::string instance)
    : http_(endpoint), leader_(leader), metrics_(metrics),
      instance_(std::move(instance))
{
}

bool Actor::may_act() const
{
    return leader_.may_write(std::chrono::steady_clock::now());
}

Result<> Actor::act(const Step &step, const About &about)
{
    if (!may_act())
        return fail(Code::busy, "the Lease is not ours now");
    auto reply = send(step);
    Result<> made =
        reply ? check_status(*reply) : Result<>(std::unexpected(reply.error()));
    metrics_.count_step(verb_name(step.verb),
                        made ? "ok" : code_name(made.error().code));
    // Somebody else has made the deletion.
    if (!made && step.verb == Step::Verb::remove &&
        made.error().code == Code::not_found)
        return {};
    if (made && step.told)
        tell(*step.told, about);
    if (made)
        for (const Told &change : step.changes)
            tell(change, about);
    return made;
}

Result<HttpReply> Actor::send(const Step &step)
{
    switch (step.verb) {
    case Step::Verb::create:
        return http_.post(step.path, step.body);
    case Step::Verb::apply:
        return http_.patch(step.path, apply_type, step.body);
    case Step::Verb::patch:
        return http_.patch(step.path, merge_type, step.body);
    case Step::Verb::remove:
        return http_.remove(step.path, step.body);
    }
    return fail(Code::internal, "no such verb");
}

void Actor::complain(const Step &step, const About &about,
                     const std::string &why)
{
    const Key &key = about.meta.key;
    log_warning("a step failed, retrying",
                {{about.kind, key.ns + "/" + key.name},
                 {"step", step.what},
                 {"err", why}});
    if (!step.is_report)
        tell({failed_reason(step.verb), "Cannot " + step.what + ": " + why,
              true},
             about);
}

// An Event is a courtesy: one that is lost is not made up for.
void Actor::tell(const Told &told, const About &about)
{
    const Key &key = about.meta.key;
    if (!told.warning)
        log_info(told.note, {{about.kind, key.ns + "/" + key.name}});
    auto reply =
        http_.post("/apis/events.k8s.io/v1/namespaces/" + key.ns + "/events",
                   event_body(told, about, instance_, ++events_));
    auto said =
        reply ? check_status(*reply) : Result<>(std::unexpected(reply.error()));
    if (!said)
        log_debug("an Event was not written", {{"err", said.error().message}});
}

} // namespace bridge::slinky
