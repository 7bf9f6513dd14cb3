// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/decide/job_requests.h"

#include "agent/decide/job_values.h"
#include "agent/decide/wish_table.h"
#include "agent/gang/batch_place.h"
#include "common/base/printable.h"
#include "common/contract/batch_names.h"
#include "common/contract/names.h"
#include "common/kube/text.h"

#include <algorithm>
#include <array>
#include <set>

namespace bridge {

namespace {

constexpr std::size_t shown_value = 64; // bytes of it in a message
constexpr std::size_t shown_wishes = 512;
constexpr std::size_t shown_name = 320; // the longest possible name

constexpr std::array<std::string_view, 3> prefixes = {
    names::our_job_annotation_prefix, names::job_annotation_prefix,
    names::old_job_annotation_prefix};

// Written by the agent, or about nodes or gangs: not requests about a job.
constexpr std::array<std::string_view, 12> not_about_jobs = {
    names::generation_annotation, names::sluid_annotation,
    names::node_annotation,       names::rank_annotation,
    names::nodes_annotation,      names::gang_size_annotation,
    names::gang_min_annotation,   names::batch_annotation,
    names::batch_ends_annotation, names::batch_place_annotation,
    names::batch_srun_annotation, names::batch_hosts_annotation};

// Returns the annotation's name after one of our prefixes; empty: it has none.
std::string_view wish_in(std::string_view annotation)
{
    if (std::ranges::contains(not_about_jobs, annotation))
        return {};
    for (std::string_view prefix : prefixes)
        if (annotation.starts_with(prefix))
            return annotation.substr(prefix.size());
    return {};
}

std::string shortened(std::string_view text, std::size_t bytes)
{
    std::string all = printable(text);
    std::string front = clean_text(all, bytes);
    return front.size() < all.size() ? front + "…" : front;
}

} // namespace

Wishes wishes_in(const TextMap &annotations)
{
    Wishes wishes;
    for (std::string_view prefix : prefixes)
        for (auto at = annotations.lower_bound(std::string(prefix));
             at != annotations.end() && at->first.starts_with(prefix); ++at) {
            std::string_view name = wish_in(at->first);
            if (!name.empty() && !at->second.empty())
                wishes.try_emplace(std::string(name), at->first, at->second);
        }
    return wishes;
}

std::string_view wish_value_in(const TextMap &annotations,
                               std::string_view name)
{
    for (std::string_view prefix : prefixes) {
        auto found = annotations.find(std::string(prefix).append(name));
        if (found != annotations.end() && !found->second.empty() &&
            !wish_in(found->first).empty())
            return found->second;
    }
    return {};
}

void add_wishes(TextMap &annotations, const TextMap &owners)
{
    std::set<std::string, std::less<>> said;
    for (const auto &[name, value] : annotations)
        said.emplace(wish_in(name));
    for (std::string_view prefix : prefixes)
        for (const auto &[name, value] : owners) {
            std::string_view wish = wish_in(name);
            if (name.starts_with(prefix) && !wish.empty() &&
                !said.contains(wish))
                annotations.emplace(name, value);
        }
}

const std::string &value_of(const Wishes &wishes, std::string_view name)
{
    static const std::string none;
    auto found = wishes.find(name);
    return found == wishes.end() ? none : found->second.value;
}

std::string unfit_wish_reason(const Wish &wish, const std::string &must)
{
    return "annotation " + shortened(wish.annotation, shown_name) + " must " +
           must + ", not \"" + shortened(wish.value, shown_value) + "\"";
}

std::string wishes_text(const Wishes &wishes)
{
    std::string text;
    for (const auto &[name, wish] : wishes)
        text += (text.empty() ? "" : ", ") + shortened(name, shown_value) +
                "=" + shortened(wish.value, shown_value);
    return shortened(text, shown_wishes);
}

bool asks_to_wait(const Wishes &wishes, std::chrono::sys_seconds created)
{
    auto begin = parse_moment(value_of(wishes, "begin"), created);
    return parse_number(value_of(wishes, "priority"), 0, 0) ||
           is_dependency(value_of(wishes, "dependency")) ||
           (begin && *begin > created);
}

std::string apply_wishes(JobDescription &job, const Wishes &wishes,
                         std::chrono::sys_seconds created)
{
    for (const auto &[name, wish] : wishes) {
        ApplyWish apply = find_wish(name);
        if (!apply)
            return "annotation " + shortened(wish.annotation, shown_name) +
                   " is not supported";
        if (std::string must = apply({job, wish.value, created}); !must.empty())
            return unfit_wish_reason(wish, must);
    }
    return {};
}

} // namespace bridge
