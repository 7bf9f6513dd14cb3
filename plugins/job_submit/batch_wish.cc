// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/job_submit/batch_wish.h"

#include "common/base/text.h"
#include "common/base/variable_name.h"
#include "common/contract/batch_names.h"
#include "common/contract/batch_options.h"
#include "common/contract/names.h"
#include "plugins/job_submit/job_desc.h"

#include <algorithm>
#include <set>

namespace bridge {

namespace {

// Returns the option with this name. Repeatable options have a number after the
// name.
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

} // namespace

bool is_batch_entry(const char *entry)
{
    std::string_view text = entry ? entry : "";
    std::string_view name = variable_name(text);
    return name.starts_with(names::spank_option_prefix) ||
           (name.starts_with(names::spank_prefix) && name != names::job_mark &&
            name != names::no_burst_variable);
}

std::expected<std::optional<BatchWish>, std::string>
batch_wish(std::span<char *const> spank_job_env)
{
    BatchWish wish;
    std::set<std::string_view> seen;
    for (const char *text : spank_job_env) {
        std::string_view entry = text ? text : "";
        std::string_view name = variable_name(entry);
        if (!is_batch_entry(text) ||
            name.starts_with(names::spank_option_prefix))
            continue;
        const BatchOption *option = option_behind(name);
        if (!option || name.size() == entry.size())
            return std::unexpected(
                std::string(name.substr(0, 64)) +
                " is not known to job_submit/k8s: spank_k8s.so and "
                "job_submit_k8s.so must be of the same version.");
        std::string said = std::string("--") + option->name;
        if (!seen.insert(name).second)
            return std::unexpected(said + " was given twice.");
        if (seen.size() > batch_options.size() * max_batch_repeats)
            return std::unexpected(said + " was given too often.");
        std::string_view value = entry.substr(name.size() + 1);
        if (std::string reason = option->unfit_reason(value); !reason.empty())
            return std::unexpected(said + " must " + reason + ".");
        put(wish, *option, value);
        if (wish.volumes.size() > max_batch_repeats)
            return std::unexpected(said + " names more than " +
                                   std::to_string(max_batch_repeats) +
                                   " volumes.");
    }
    if (seen.empty())
        return std::nullopt;
    return wish;
}

std::expected<std::optional<BatchWish>, std::string>
with_default_image(std::optional<BatchWish> wish, const job_desc_msg_t &desc,
                   const Conf &conf, const std::string &default_partition)
{
    if ((wish && !wish->image.empty()) || !given(desc.script))
        return wish;
    std::string named =
        given(desc.partition) ? desc.partition : default_partition;
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
            " have different images (DefaultImage in k8s.conf): name one of "
            "them, or give --k8s-image.");
    if (images.empty() || images.begin()->empty())
        return wish;
    if (!wish)
        wish.emplace();
    wish->image = *images.begin();
    return wish;
}

} // namespace bridge
