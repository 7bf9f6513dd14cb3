// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/objects/gang_key.h"

#include "common/base/printable.h"
#include "common/base/text.h"
#include "common/contract/names.h"
#include "common/kube/text.h"

#include <algorithm>
#include <optional>
#include <tuple>

namespace bridge {

namespace {

constexpr std::uint32_t max_index = 1'000'000'000; // more is no index
constexpr std::size_t shown_value = 64;            // bytes of it in a message

const std::string &find_text(const TextMap &texts, const char *name)
{
    static const std::string none;
    auto found = texts.find(name);
    return found == texts.end() ? none : found->second;
}

std::optional<std::uint32_t> number_in(const std::string &text,
                                       std::uint32_t low, std::uint32_t high)
{
    auto value = whole_number<std::uint32_t>(text);
    return value && *value >= low && *value <= high ? value : std::nullopt;
}

std::string must_be_number(const char *annotation, const std::string &value)
{
    return std::string("annotation ") + annotation +
           " must be a number of Pods from 1, not \"" +
           clean_text(printable(value), shown_value) + "\"";
}

// Reads both annotations into the key. own: the size that the gang's kind
// itself defines, if any.
void read_sizes(GangKey &key, const TextMap &annotations,
                const std::string &own)
{
    const std::string &said =
        find_text(annotations, names::gang_size_annotation);
    const std::string &text = said.empty() ? own : said;
    auto size = number_in(text, 1, max_index);
    if (text.empty())
        key.unfit_reason = std::string("label ") + names::gang_label +
                           " needs the annotation " +
                           names::gang_size_annotation +
                           " beside it: the number of Pods";
    else if (!size)
        key.unfit_reason = must_be_number(names::gang_size_annotation, text);
    key.size = key.minimum = size.value_or(1);
    const std::string &least =
        find_text(annotations, names::gang_min_annotation);
    if (least.empty() || !key.unfit_reason.empty())
        return;
    auto minimum = number_in(least, 1, max_index);
    if (!minimum)
        key.unfit_reason = must_be_number(names::gang_min_annotation, least);
    else if (*minimum > key.size)
        key.unfit_reason =
            std::string("annotation ") + names::gang_min_annotation +
            " must not be more than " + names::gang_size_annotation;
    key.minimum = std::min(minimum.value_or(key.size), key.size);
}

// Reads the index of the Pod among the Pods of its controller, and of that
// controller among its peers.
void read_index(GangKey &key, const TextMap &labels)
{
    const std::string &worker =
        find_text(labels, names::lws_worker_index_label);
    const std::string &of_job = find_text(labels, names::job_index_label);
    const std::string &own =
        !worker.empty()
            ? worker
            : (!of_job.empty() ? of_job
                               : find_text(labels, names::pod_index_label));
    auto high = number_in(find_text(labels, names::jobset_job_index_label), 0,
                          max_index);
    auto low = number_in(own, 0, max_index);
    key.indexed = low.has_value();
    key.index = (std::uint64_t{high.value_or(0)} << 32) | low.value_or(0);
}

// Splits a name before its last digits: returns the part before them, and the
// digits in a form that compares as a number (length first).
std::tuple<std::string_view, std::size_t, std::string_view>
by_number(std::string_view name)
{
    std::size_t end = name.find_last_not_of("0123456789") + 1;
    std::string_view digits = name.substr(end);
    while (digits.size() > 1 && digits.front() == '0')
        digits.remove_prefix(1);
    return {name.substr(0, end), digits.size(), digits};
}

std::string attempt_of(const TextMap &labels)
{
    return find_text(labels, names::jobset_uid_label) + "." +
           find_text(labels, names::jobset_attempt_label);
}

// Returns the gang of the kinds whose Pods define the size themselves.
GangKeyPtr sized_gang(const ObjectKey &pod, const OwnerRef &controller,
                      const TextMap &labels, const TextMap &annotations)
{
    auto key = std::make_shared<GangKey>();
    auto name_it = [&](const std::string &kind, const std::string &id,
                       const std::string &name) {
        key->uid = pod.ns + "/" + kind + "/" + id;
        key->name = name;
    };
    const std::string &label = find_text(labels, names::gang_label);
    const std::string &lws = find_text(labels, names::lws_group_key_label);
    const std::string &jobset = find_text(labels, names::jobset_uid_label);
    bool sized = annotations.contains(names::gang_size_annotation);
    std::string own_size;
    if (!label.empty()) {
        name_it("gang", label, label);
        key->by_label = true;
    } else if (!lws.empty()) {
        name_it("lws", lws,
                find_text(labels, names::lws_name_label) + "-" +
                    find_text(labels, names::lws_group_index_label));
        own_size = find_text(annotations, names::lws_size_annotation);
        key->first_may_be_alone =
            !annotations.contains(names::gang_min_annotation);
        if (own_size.empty() && !sized)
            return nullptr; // the labels are not from LeaderWorkerSet
    } else if (!jobset.empty() && sized) {
        // Each attempt has its own Pods, which can exist at the same time as
        // the last Pods of the attempt before.
        name_it("jobset", attempt_of(labels),
                find_text(labels, names::jobset_name_label));
    } else if (controller.kind == "Job" && sized) {
        name_it("job", controller.uid, controller.name);
    } else {
        return nullptr;
    }
    read_sizes(*key, annotations, own_size);
    read_index(*key, labels);
    return key;
}

GangKeyPtr group_gang(const std::string &ns, GroupRef group,
                      const TextMap &labels, GangKeyPtr otherwise)
{
    auto key = std::make_shared<GangKey>();
    key->uid = gang_uid_of(ns, group);
    key->name = group.name;
    // Any Pods may use the name of a PodGroup of scheduler-plugins again.
    key->by_label = group.api == GroupApi::plugins;
    key->group = std::move(group);
    key->otherwise = std::move(otherwise);
    read_index(*key, labels);
    return key;
}

// Returns null if the Pod does not belong to a JobSet.
GangKeyPtr jobset_gang(const std::string &ns, const TextMap &labels,
                       GangKeyPtr otherwise)
{
    const std::string &uid = find_text(labels, names::jobset_uid_label);
    const std::string &name = find_text(labels, names::jobset_name_label);
    if (uid.empty() || name.empty())
        return nullptr;
    auto key = std::make_shared<GangKey>();
    key->uid = ns + "/jobset/" + attempt_of(labels);
    key->name = name;
    key->group = {GroupApi::jobset, name};
    key->group_uid = uid;
    key->otherwise = std::move(otherwise);
    read_index(*key, labels);
    return key;
}

} // namespace

GangKeyPtr gang_key(const ObjectKey &pod, const OwnerRef &controller,
                    const TextMap &labels, const TextMap &annotations,
                    const std::string &scheduling_group)
{
    if (find_text(labels, names::gang_label).empty() &&
        find_text(annotations, names::gang_size_annotation) == "0")
        return nullptr;
    if (auto sized = sized_gang(pod, controller, labels, annotations))
        return sized;
    GangKeyPtr key;
    auto prefer = [&](GroupApi api, const std::string &name) {
        if (!name.empty())
            key = group_gang(pod.ns, {api, name}, labels, std::move(key));
    };
    prefer(GroupApi::workload, scheduling_group);
    if (auto set = jobset_gang(pod.ns, labels, key))
        key = std::move(set);
    prefer(GroupApi::plugins, find_text(labels, plugins_group_label));
    return key;
}

std::string gang_uid_of(const std::string &ns, const GroupRef &group)
{
    const char *kind =
        group.api == GroupApi::plugins ? "/podgroup/" : "/workload/";
    return ns + kind + group.name;
}

bool names_gang(const Pod &pod, const std::string &gang_uid)
{
    for (const GangKey *key = pod.gang.get(); key; key = key->otherwise.get())
        if (key->uid == gang_uid)
            return true;
    return false;
}

GangTerms terms_of(const std::vector<std::shared_ptr<const Pod>> &pods,
                   std::uint32_t most)
{
    GangTerms terms;
    const GangKey *first = nullptr;
    std::size_t exist = 0;
    for (const auto &pod : pods) {
        const GangKey *key = pod->gang.get();
        if (!key || pod->terminal())
            continue;
        exist++;
        if (!first) {
            first = key;
            terms.size = key->size;
            terms.minimum = key->minimum;
        }
        if (!terms.unfit_reason.empty())
            continue;
        if (!key->unfit_reason.empty())
            terms.unfit_reason =
                "Pod " + pod->key.name + ": " + key->unfit_reason;
        else if (key->size != first->size || key->minimum != first->minimum)
            terms.unfit_reason =
                "the Pods of gang " + key->name +
                " declare different sizes: " + std::to_string(first->size) +
                " and " + std::to_string(key->size) + " Pods, minimum " +
                std::to_string(first->minimum) + " and " +
                std::to_string(key->minimum);
    }
    std::size_t largest = std::max<std::size_t>(terms.size, exist);
    if (terms.unfit_reason.empty() && largest > most)
        terms.unfit_reason = too_large_gang_message(largest, most);
    return terms;
}

std::string too_large_gang_message(std::size_t size, std::size_t most)
{
    return "a gang may have " + std::to_string(most) + " Pods, not " +
           std::to_string(size) + ": MaxGangSize in k8s.conf";
}

bool ranks_before(const Pod &a, const Pod &b)
{
    std::uint64_t of_a = a.gang ? a.gang->index : 0;
    std::uint64_t of_b = b.gang ? b.gang->index : 0;
    auto order = [](const Pod &pod, std::uint64_t index) {
        return std::tuple(index, by_number(pod.key.name),
                          std::string_view(pod.uid));
    };
    return order(a, of_a) < order(b, of_b);
}

} // namespace bridge
