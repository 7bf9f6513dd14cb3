// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/job_submit/batch_request.h"

#include "common/batch_names.h"
#include "common/batch_options.h"
#include "common/names.h"
#include "common/text.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace bridge {

namespace {

using Desc = job_desc_msg_t;

bool given(const char *text)
{
    return text && *text;
}

bool above_one(std::uint32_t count)
{
    return count != NO_VAL && count > 1;
}

bool asks_for_gres(const Desc &desc)
{
    for (const char *tres : {desc.tres_per_job, desc.tres_per_node,
                             desc.tres_per_socket, desc.tres_per_task})
        if (tres && std::strstr(tres, "gres"))
            return true;
    return false;
}

struct Objection {
    bool (*applies)(const Desc &desc);
    const char *why;
};

// In the words of sbatch's options.
constexpr Objection objections[] = {
    {[](const Desc &d) { return !given(d.script); },
     "--k8s-image is for sbatch only."},
    {[](const Desc &d) { return given(d.array_inx); },
     "A job array cannot run as Pods yet: leave out --array or --k8s-image."},
    {[](const Desc &d) { return d.het_job_offset != NO_VAL; },
     "A heterogeneous job cannot run as Pods."},
    {[](const Desc &d) { return above_one(d.min_nodes); },
     "A job with --k8s-image has one node: --nodes of more is not supported "
     "yet."},
    {[](const Desc &d) { return given(d.features) || given(d.prefer); },
     "--constraint and --prefer are not supported with --k8s-image yet."},
    {asks_for_gres, "--gres and --gpus are not supported with --k8s-image yet."},
    {[](const Desc &d) { return bool(d.bitflags & CRON_JOB); },
     "A job of scrontab cannot run as a Pod."},
    {[](const Desc &d) { return d.requeue == 1; },
     "A job with --k8s-image cannot be requeued: leave out --requeue."},
    {[](const Desc &d) {
         return d.warn_signal != 0 && d.warn_signal != NO_VAL16;
     },
     "--signal is not supported with --k8s-image yet."},
    {[](const Desc &d) { return given(d.container) || given(d.container_id); },
     "--container and --k8s-image exclude each other."},
    {[](const Desc &d) { return given(d.burst_buffer); },
     "Burst buffers are not supported with --k8s-image."},
    {[](const Desc &d) { // which sbatch fills in
         return given(d.std_in) && std::string_view(d.std_in) != "/dev/null";
     },
     "--input is not supported with --k8s-image yet."},
};

std::string_view name_of(std::string_view entry)
{
    return entry.substr(0, entry.find('='));
}

// Of those that can be given often there is a number behind the name.
const BatchOption *option_behind(std::string_view name)
{
    for (const BatchOption &option : batch_options) {
        std::string_view rest = name;
        if (!rest.starts_with(option.variable))
            continue;
        rest.remove_prefix(std::string_view(option.variable).size());
        if (option.often ? rest.starts_with('_') &&
                               whole_number<unsigned>(rest.substr(1))
                         : rest.empty())
            return &option;
    }
    return nullptr;
}

void put(BatchWish &wish, const BatchOption &option, std::string_view value)
{
    switch (static_cast<BatchOptionId>(&option - batch_options.data())) {
    case BatchOptionId::image:
        wish.image = value;
        break;
    case BatchOptionId::env:
        wish.variables.emplace_back(value);
        break;
    case BatchOptionId::volume:
        while (!value.empty())
            if (std::string name(next_part(value, ','));
                !std::ranges::contains(wish.volumes, name))
                wish.volumes.push_back(name);
        break;
    case BatchOptionId::service_account:
        wish.service_account = value;
        break;
    case BatchOptionId::name_space:
        wish.name_space = value;
        break;
    }
}

std::string in_brackets(const std::vector<std::string> &names)
{
    std::string text;
    for (const std::string &name : names)
        text += (text.empty() ? "" : ", ") + name;
    return text.empty() ? "none" : text;
}

// What the site lets jobs choose.
std::optional<std::string> refuse_choice(const BatchWish &wish,
                                         const Conf &conf)
{
    const std::vector<std::string> &volumes = conf.batch_pod.choosable;
    for (const std::string &name : wish.volumes)
        if (!std::ranges::contains(volumes, name))
            return "--k8s-volume: there is no volume \"" + name +
                   "\" for jobs to choose (there are: " + in_brackets(volumes) +
                   ").";
    if (!wish.service_account.empty() &&
        !std::ranges::contains(conf.batch_accounts, wish.service_account))
        return "--k8s-service-account: \"" + wish.service_account +
               "\" is not for jobs to choose (these are: " +
               in_brackets(conf.batch_accounts) + ").";
    if (!wish.name_space.empty() && !is_batch_namespace(conf, wish.name_space))
        return "--k8s-namespace: \"" + wish.name_space +
               "\" is not for jobs to choose (these are: " +
               in_brackets(conf.batch_namespaces) + ").";
    return std::nullopt;
}

} // namespace

bool is_batch_entry(const char *entry)
{
    std::string_view text = entry ? entry : "";
    std::string_view name = name_of(text);
    return name.starts_with(names::spank_option_prefix) ||
           (name.starts_with(names::spank_prefix) && name != names::job_mark);
}

std::expected<std::optional<BatchWish>, std::string>
batch_wish(std::span<char *const> spank_job_env)
{
    BatchWish wish;
    std::set<std::string_view> seen;
    for (const char *text : spank_job_env) {
        std::string_view entry = text ? text : "";
        std::string_view name = name_of(entry);
        if (!is_batch_entry(text) ||
            name.starts_with(names::spank_option_prefix))
            continue;
        const BatchOption *option = option_behind(name);
        if (!option || name.size() == entry.size())
            return std::unexpected(
                std::string(name.substr(0, 64)) +
                " is not known to job_submit/k8s: spank_k8s.so and "
                "job_submit_k8s.so must be of one version.");
        std::string said = std::string("--") + option->name;
        if (!seen.insert(name).second)
            return std::unexpected(said + " was given twice.");
        if (seen.size() > batch_options.size() * max_batch_repeats)
            return std::unexpected(said + " was given too often.");
        std::string_view value = entry.substr(name.size() + 1);
        if (std::string why = option->objection(value); !why.empty())
            return std::unexpected(said + " must " + why + ".");
        put(wish, *option, value);
    }
    if (seen.empty())
        return std::nullopt;
    return wish;
}

std::expected<std::optional<BatchWish>, std::string>
with_default_image(std::optional<BatchWish> wish, const Desc &desc,
                   const Conf &conf, const std::string &default_partition)
{
    if ((wish && !wish->image.empty()) || !given(desc.script))
        return wish;
    std::string named = given(desc.partition) ? desc.partition
                                              : default_partition;
    std::set<std::string> images;
    for (std::string_view list = named; !list.empty();) {
        auto known =
            conf.default_images.find(std::string(next_part(list, ',')));
        images.insert(known == conf.default_images.end() ? std::string()
                                                         : known->second);
    }
    if (images.size() > 1)
        return std::unexpected(
            "The partitions " + named.substr(0, 200) +
            " differ in what they run batch jobs in: name one of them, or give "
            "--k8s-image.");
    if (images.empty() || images.begin()->empty())
        return wish;
    if (!wish)
        wish.emplace();
    wish->image = *images.begin();
    return wish;
}

std::optional<std::string> refuse_batch(const Desc &desc, const BatchWish &wish,
                                        const Conf &conf,
                                        std::uint32_t slurm_user)
{
    if (wish.image.empty())
        return "The options --k8s-… need --k8s-image, as this partition has no "
               "DefaultImage in k8s.conf.";
    if (conf.batch_namespace.empty())
        return "Batch jobs do not run as Pods in this cluster: k8s.conf has no "
               "SbatchNamespace.";
    bool mighty = desc.user_id == 0 || desc.group_id == 0 ||
                  desc.user_id == slurm_user;
    if (mighty) // whatever AllowRoot says: it is about Slurm, not containers
        return "Batch jobs of root, of SlurmUser and of the group root do not "
               "run as Pods.";
    for (const Objection &objection : objections)
        if (objection.applies(desc))
            return objection.why;
    return refuse_choice(wish, conf);
}

BatchScript batch_script(const Desc &desc, const BatchWish &wish, bool append)
{
    BatchScript batch;
    batch.user_id = desc.user_id;
    batch.group_id = desc.group_id;
    batch.image = wish.image;
    batch.work_dir = desc.work_dir ? desc.work_dir : "";
    batch.script = desc.script;
    for (std::uint32_t i = 1; desc.argv && i < desc.argc; i++)
        if (desc.argv[i])
            batch.arguments.emplace_back(desc.argv[i]);
    for (std::uint32_t i = 0; desc.environment && i < desc.env_size; i++)
        if (desc.environment[i])
            batch.environment.emplace_back(desc.environment[i]);
    batch.output = desc.std_out ? desc.std_out : "";
    batch.error = desc.std_err ? desc.std_err : "";
    batch.append = desc.open_mode == OPEN_MODE_APPEND ||
                   (append && desc.open_mode != OPEN_MODE_TRUNCATE);
    batch.variables = wish.variables;
    batch.volumes = wish.volumes;
    batch.service_account = wish.service_account;
    batch.name_space = wish.name_space;
    return batch;
}

std::size_t size_in_secret(const BatchScript &batch, std::size_t text)
{
    constexpr std::size_t for_word = 8;  // quotes, and a line of its own
    constexpr std::size_t for_quote = 3; // \' and two more
    std::size_t size = text;
    for (const auto *words :
         {&batch.arguments, &batch.environment, &batch.variables})
        for (const std::string &word : *words)
            size += for_word +
                    for_quote * static_cast<std::size_t>(
                                    std::ranges::count(word, '\''));
    return size;
}

std::optional<std::string> refuse_size(std::size_t size, const Conf &conf)
{
    if (size <= conf.max_script_size)
        return std::nullopt;
    return "The script, its arguments and its environment have " +
           std::to_string(size) + " bytes as its Pod gets them, and a job with --k8s-image may have " +
           std::to_string(conf.max_script_size) +
           " (MaxScriptSize in k8s.conf). --export=NONE leaves the environment "
           "out.";
}

std::string batch_features(const Conf &conf)
{
    return std::string(names::feature) + "&" +
           (conf.batch_template.empty() ? names::untainted_feature
                                        : names::batch_feature);
}

} // namespace bridge
