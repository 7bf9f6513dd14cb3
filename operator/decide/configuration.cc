// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/configuration.h"

#include "common/base/stable_hash.h"
#include "common/contract/worker_names.h"
#include "operator/decide/controller_pod.h"
#include "operator/decide/metadata.h"
#include "operator/decide/site_files.h"

#include <format>
#include <utility>

namespace bridge::slinky {

namespace {

std::string joined(const std::vector<std::string> &parts)
{
    std::string text;
    for (const std::string &part : parts)
        text += (text.empty() ? "" : ",") + part;
    return text;
}

std::string hash_of(const Configuration &made, const std::string &image)
{
    return std::format("{:016x}", stable_hash(image + text_of(made.texts) +
                                              text_of(made.binaries)));
}

} // namespace

Configuration configuration_of(const Known &known, const Controller &controller)
{
    SiteFiles site = site_files(known, controller);
    Configuration made;
    made.memory = conf_memory(known, controller);
    made.texts = conf_files(known, controller, made.memory, site.lines);
    for (auto &[name, text] : site.texts)
        made.texts[name] = std::move(text);
    for (auto &[name, binary] : site.binaries) {
        made.texts.erase(name);
        made.binaries[name] = std::move(binary);
    }
    made.texts.erase(names::config_hash_file);
    made.binaries.erase(names::config_hash_file);
    made.hash = hash_of(made, controller.spec.text("slurmctld/image"));
    made.texts[names::config_hash_file] = made.hash + "\n";
    made.problem = site.problem;
    made.known = site.known;
    return made;
}

const Made *live_conf(const Known &known, const Controller &controller)
{
    return find_made(known, {"Controller", controller.meta}, "ConfigMap",
                     conf_name(controller));
}

std::string live_hash(const Known &known, const Controller &controller)
{
    const Made *made = live_conf(known, controller);
    if (!made || made->meta.deleting)
        return {};
    auto found = made->meta.annotations.find(names::config_hash_annotation);
    return found == made->meta.annotations.end() ? std::string()
                                                 : found->second;
}

std::string text_of(const TextMap &files)
{
    std::string all = std::format("\n{}", files.size());
    for (const auto &[name, text] : files)
        all += std::format("\n{} {}\n{}", name, text.size(), text);
    return all;
}

JsonMembers file_members(const TextMap &texts, const TextMap &binaries)
{
    JsonMembers members{{"data", texts_json(texts).dump()}};
    if (!binaries.empty())
        members.emplace_back("binaryData", texts_json(binaries).dump());
    return members;
}

Wanted controller_conf(const Controller &controller,
                       const Configuration &configuration)
{
    const ConfMemory &memory = configuration.memory;
    return {"ConfigMap",
            conf_name(controller),
            controller_labels(controller),
            {{names::max_nodes_annotation, std::to_string(memory.max_nodes)},
             {names::partitions_annotation, joined(memory.partitions)},
             {names::config_hash_annotation, configuration.hash}},
            file_members(configuration.texts, configuration.binaries)};
}

} // namespace bridge::slinky
