// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/config_state.h"

#include "common/base/json.h"
#include "common/contract/worker_names.h"
#include "operator/decide/controller_pod.h"

#include <utility>

namespace bridge::slinky {

namespace {

// The end of what slurmctld has said, which says why.
std::string last_words(const std::string &log)
{
    constexpr std::size_t most = 1500; // bytes
    return log.size() <= most ? log : "…" + log.substr(log.size() - most);
}

} // namespace

ConfigState config_state(const Known &known, const Controller &controller)
{
    ConfigState state;
    state.wanted = configuration_of(known, controller);
    state.live = live_hash(known, controller);
    state.trial = trial_of(known, controller, state.wanted.hash);
    const Daemon *pod = slurmctld_pod(known, controller);
    state.applied = pod && !state.live.empty() && pod->configured == state.live;
    return state;
}

std::optional<Step> announce(const Known &known, const Controller &controller,
                             const std::string &live)
{
    const Daemon *pod = slurmctld_pod(known, controller);
    if (!pod || pod->meta.deleting || live.empty())
        return std::nullopt;
    auto said = pod->meta.annotations.find(names::config_hash_annotation);
    if (said != pod->meta.annotations.end() && said->second == live)
        return std::nullopt;
    auto annotations =
        JsonValue::object({{names::config_hash_annotation, live}});
    auto metadata = JsonValue::object(
        {{"uid", pod->meta.uid}, {"annotations", std::move(annotations)}});
    return Step{Step::Verb::patch,
                "announce the configuration to Pod " + pod->meta.key.name,
                pod_path(pod->meta.key),
                JsonValue::object({{"metadata", std::move(metadata)}}).dump()};
}

Said config_valid(const Controller &controller, const ConfigState &config)
{
    const std::string &hash = config.wanted.hash;
    const char *stays = config.live.empty()
                            ? " slurmctld is not started with it."
                            : " slurmctld goes on with the one before.";
    if (!config.wanted.problem.empty())
        return {"ConfigValid", false, "NoSuchFile",
                config.wanted.problem + stays};
    if (config.accepted())
        return {"ConfigValid", true, "Accepted",
                "A slurmctld came up with configuration " + hash + "."};
    std::string of = "Configuration " + hash;
    if (config.trial.verdict == Trial::Verdict::refused)
        return {"ConfigValid", false, "Refused",
                of + " is refused." + stays +
                    " The words of the one that "
                    "tried it: " +
                    last_words(config.trial.words)};
    // One that was refused is so until it is accepted.
    const Condition *before =
        find_condition(controller.conditions, "ConfigValid");
    if (before && before->reason == "Refused" &&
        before->message.starts_with(of))
        return {"ConfigValid", false, "Refused", before->message};
    std::string pod = trial_name(controller, hash);
    return {"ConfigValid", false, "Trying",
            "A slurmctld in Pod " + pod + " tries configuration " + hash +
                (config.trial.words.empty() ? "."
                                            : ": " + config.trial.words + "."),
            true};
}

Said config_applied(const Known &known, const Controller &controller,
                    const ConfigState &config)
{
    if (agent_image(known, controller).empty())
        return {"ConfigApplied", false, "NobodyTells",
                "Without slurmk8sd slurmctld is started again for each "
                "configuration.",
                true};
    if (config.applied)
        return {"ConfigApplied", true, "Applied",
                "slurmctld has read configuration " + config.live +
                    ", the last one that was accepted."};
    return {"ConfigApplied", false, "Waits",
            "slurmctld has not read the last configuration that was accepted "
            "yet."};
}

} // namespace bridge::slinky
