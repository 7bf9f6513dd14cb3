// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/job_submit/batch_request.h"

#include "common/batch_names.h"
#include "common/names.h"

#include <cstring>

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
    std::optional<BatchWish> wish;
    for (const char *text : spank_job_env) {
        std::string_view entry = text ? text : "";
        std::string_view name = name_of(entry);
        if (!is_batch_entry(text) ||
            name.starts_with(names::spank_option_prefix))
            continue;
        if (name != names::spank_image || name.size() == entry.size())
            return std::unexpected(
                std::string(name.substr(0, 64)) +
                " is not known to job_submit/k8s: spank_k8s.so and "
                "job_submit_k8s.so must be of one version.");
        if (wish)
            return std::unexpected("--k8s-image was given twice.");
        wish = BatchWish{std::string(entry.substr(name.size() + 1))};
        if (std::string why = objection_to_image(wish->image); !why.empty())
            return std::unexpected("--k8s-image must " + why + ".");
    }
    return wish;
}

std::optional<std::string> refuse_batch(const Desc &desc, const Conf &conf,
                                        std::uint32_t slurm_user)
{
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
    return std::nullopt;
}

BatchScript batch_script(const Desc &desc, const BatchWish &wish)
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
    return batch;
}

std::optional<std::string> refuse_size(std::size_t size, const Conf &conf)
{
    if (size <= conf.max_script_size)
        return std::nullopt;
    return "The script, its arguments and its environment have " +
           std::to_string(size) + " bytes, and a job with --k8s-image may have " +
           std::to_string(conf.max_script_size) +
           " (MaxScriptSize in k8s.conf). --export=NONE leaves the environment "
           "out.";
}

std::string batch_features()
{
    return std::string(names::feature) + "&" + names::untainted_feature;
}

} // namespace bridge
