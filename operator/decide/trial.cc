// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/trial.h"

#include "common/contract/worker_names.h"
#include "common/kube/text.h"
#include "operator/decide/controller_pod.h"
#include "operator/decide/k8s_conf.h"
#include "operator/decide/made.h"
#include "operator/decide/metadata.h"
#include "operator/decide/trial_text.h"

#include <format>
#include <optional>
#include <utility>

namespace bridge::slinky {

namespace {

constexpr std::chrono::minutes again{5}; // a refused one is tried
constexpr std::size_t hash_digits = 8;   // of names
constexpr char component[] = "trial";

// No key of the cluster: whatever this slurmctld says to others is not heard.
std::string no_key(const std::string &hash)
{
    return "this key is of one trial only: " + hash + hash + hash + hash;
}

TextMap trial_labels(const Controller &controller, const char *app)
{
    TextMap labels = controller_labels(controller);
    labels[names::app_label] = app;
    labels[names::component_label] = component;
    return labels;
}

bool is_trial(const Controller &controller, const Meta &meta)
{
    return meta.key.ns == controller.meta.key.ns &&
           meta.controller == controller.meta.uid &&
           meta.labels.contains(names::component_label) &&
           meta.labels.at(names::component_label) == component;
}

const Daemon *trial_pod(const Known &known, const Controller &controller,
                        const std::string &hash)
{
    auto found = known.daemons.find(
        {controller.meta.key.ns, trial_name(controller, hash)});
    return found == known.daemons.end() ||
                   !is_trial(controller, found->second.meta)
               ? nullptr
               : &found->second;
}

// What asks slurmctld within it, as job_submit/k8s does, does not ask the one
// that serves, whose log would have an error for each question.
void ask_itself(const Controller &controller, std::string &conf)
{
    std::string line =
        std::format("SlurmctldHost={}({})\n", controller_pod_name(controller),
                    controller.host);
    if (std::size_t at = conf.find(line); at != conf.npos)
        conf.replace(at, line.size(),
                     std::format("SlurmctldHost={}(127.0.0.1)\n",
                                 controller_pod_name(controller)));
}

Wanted trial_conf(const Controller &controller,
                  const Configuration &configuration)
{
    TextMap texts = configuration.texts;
    for (auto &[name, text] : texts)
        // slurm.conf, and what it includes.
        if (name.ends_with(".conf") && name != k8s_conf_file)
            text = without_database(text);
    ask_itself(controller, texts["slurm.conf"]);
    for (const char *key : {"slurm.key", "jwt.key"})
        texts[key] = no_key(configuration.hash);
    return {"ConfigMap",
            trial_name(controller, configuration.hash),
            // As the watch of ConfigMaps selects them.
            trial_labels(controller, slurmctld_app),
            {},
            file_members(texts, configuration.binaries)};
}

Step create_trial(const Controller &controller, const std::string &hash)
{
    std::string name = trial_name(controller, hash);
    auto metadata = JsonValue::object(
        {{"name", name},
         {"namespace", controller.meta.key.ns},
         {"labels", texts_json(trial_labels(controller, trial_app))},
         {"ownerReferences", owned_by("Controller", controller.meta)}});
    Step step{Step::Verb::create, "create Pod " + name,
              pods_path(controller.meta.key.ns),
              json_object({{"apiVersion", R"("v1")"},
                           {"kind", R"("Pod")"},
                           {"metadata", metadata.dump()},
                           {"spec", trial_pod_spec(controller, name)}})};
    step.told = Told{"ConfigTrial",
                     std::format("Pod {} tries configuration {}", name, hash)};
    step.may_exist = true;
    return step;
}

Step remove_pod(const Daemon &pod)
{
    return {Step::Verb::remove, "delete Pod " + pod.meta.key.name,
            pod_path(pod.meta.key), delete_body(pod.meta)};
}

bool is_over(const Daemon &pod)
{
    return pod.phase == "Failed" || pod.phase == "Succeeded";
}

// Whether nothing more is to be learned of it: it was evicted, say.
bool is_void(const Daemon &pod, std::chrono::sys_seconds now)
{
    if (pod.lost || !pod.ended)
        return is_over(pod);
    return !pod.ended_at.empty() && pod.ended_at < second_time(now - again);
}

} // namespace

std::string trial_name(const Controller &controller, const std::string &hash)
{
    return std::format("{}-trial-{}",
                       controller_service(controller.meta.key.name),
                       hash.substr(0, hash_digits));
}

Trial trial_of(const Known &known, const Controller &controller,
               const std::string &hash)
{
    const Daemon *pod = trial_pod(known, controller, hash);
    if (!pod || pod->meta.deleting)
        return {};
    if (pod->ended && !pod->lost)
        return {Trial::Verdict::refused, pod->words};
    if (pod->ready)
        return {Trial::Verdict::accepted, {}};
    return {Trial::Verdict::waits, pod->words};
}

std::vector<Step> try_out(const Known &known, const Controller &controller,
                          const Configuration &configuration,
                          std::chrono::sys_seconds now)
{
    std::vector<Step> steps;
    if (auto step = made_step(known, {"Controller", controller.meta},
                              trial_conf(controller, configuration)))
        steps.push_back(std::move(*step));
    const Daemon *pod = trial_pod(known, controller, configuration.hash);
    if (!pod)
        steps.push_back(create_trial(controller, configuration.hash));
    else if (!pod->meta.deleting && is_void(*pod, now))
        steps.push_back(remove_pod(*pod));
    return steps;
}

std::vector<Step> end_trials(const Known &known, const Controller &controller,
                             const std::string &but)
{
    std::vector<Step> steps;
    std::string kept = but.empty() ? but : trial_name(controller, but);
    auto goes = [&](const Meta &meta) {
        return is_trial(controller, meta) && !meta.deleting &&
               meta.key.name != kept;
    };
    for (const auto &[key, pod] : known.daemons)
        if (goes(pod.meta))
            steps.push_back(remove_pod(pod));
    for (const auto &[key, made] : known.made)
        if (made.kind == "ConfigMap" && goes(made.meta))
            steps.push_back(
                {Step::Verb::remove, "delete ConfigMap " + made.meta.key.name,
                 made_path(made.kind, made.meta.key), delete_body(made.meta)});
    return steps;
}

} // namespace bridge::slinky
