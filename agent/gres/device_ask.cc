// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gres/device_ask.h"

#include "agent/gres/memo.h"
#include "agent/objects/digest.h"

#include <algorithm>
#include <format>
#include <map>
#include <memory>
#include <set>
#include <utility>

namespace bridge {

namespace {

constexpr std::size_t most_named = 3; // requests of a claim, in a message

// Returns the GRES that some Pod requests without a type. A job then requests
// no type of them for anybody: see task_gres().
std::set<std::string> untyped_gres(const std::vector<DeviceNeeds> &pods)
{
    std::set<std::string> untyped;
    for (const DeviceNeeds &pod : pods)
        for (const DevicesWanted &one : pod.wanted)
            if (!one.request->admin_access && one.wish.type.empty())
                untyped.insert(one.wish.gres);
    return untyped;
}

// Returns true if every node that has the GRES of these needs satisfies them.
bool gres_suffice(const DeviceNeeds &needs,
                  const std::set<std::string> &untyped)
{
    return std::ranges::all_of(needs.wanted, [&](const DevicesWanted &one) {
        bool loses_type =
            !one.wish.type.empty() && untyped.contains(one.wish.gres);
        return !one.request->admin_access && one.wish.exact && !loses_type &&
               needs.claims[one.claim]->constraints.empty();
    });
}

// Returns the same needs with only those claims that have no devices yet.
DeviceNeeds only_wanted(const DeviceNeeds &needs)
{
    DeviceNeeds made;
    std::map<std::size_t, std::size_t> places; // by place in needs.claims
    for (DevicesWanted one : needs.wanted) {
        auto [place, is_new] =
            places.try_emplace(one.claim, made.claims.size());
        if (is_new) {
            made.claims.push_back(needs.claims[one.claim]);
            made.consumers.push_back(needs.consumers[one.claim]);
        }
        one.claim = place->second;
        made.wanted.push_back(std::move(one));
    }
    return made;
}

void add_request(std::string &text, const DevicesWanted &wanted)
{
    const DeviceRequest &request = *wanted.request;
    add_key_part(text, request.name);
    add_key_part(text, fit_key(request));
    text += std::format("{}{}{}", request.admin_access ? "admin," : "",
                        request.all ? "all," : "", wanted.count);
    if (request.admin_access || !wanted.wish.gres.empty())
        return;
    for (const auto &[gres, amount] : wanted.wish.amounts) { // of a share
        add_key_part(text, gres);
        text += std::to_string(amount) + ';';
    }
}

void add_constraint(std::string &text, const DeviceConstraint &constraint)
{
    text += constraint.distinct ? "distinct" : "match";
    add_key_part(text, constraint.attribute);
    for (const std::string &request : constraint.requests)
        add_key_part(text, request);
}

// needs: see only_wanted().
std::string canonical_text(const DeviceNeeds &needs)
{
    std::string text;
    for (std::size_t c = 0; c < needs.claims.size(); c++) {
        text += "claim{";
        for (const DevicesWanted &one : needs.wanted)
            if (one.claim == c)
                add_request(text, one);
        for (const DeviceConstraint &one : needs.claims[c]->constraints)
            add_constraint(text, one);
        text += '}';
    }
    return text;
}

std::string devices_words(const DevicesWanted &wanted)
{
    const DeviceRequest &request = *wanted.request;
    std::string count = request.all ? "all devices"
                        : wanted.count == 1
                            ? "1 device"
                            : std::format("{} devices", wanted.count);
    return std::format("request {}: {} of DeviceClass {}", request.name, count,
                       request.class_name);
}

} // namespace

DeviceCondition device_condition(const std::vector<DeviceNeeds> &pods)
{
    std::map<std::string, DeviceNeeds> unlike; // by text
    std::set<std::string> untyped = untyped_gres(pods);
    for (const DeviceNeeds &pod : pods) {
        if (gres_suffice(pod, untyped))
            return {};
        DeviceNeeds wanted = only_wanted(pod);
        std::string text = canonical_text(wanted);
        unlike.try_emplace(std::move(text), std::move(wanted));
    }
    DeviceCondition made;
    auto ask = std::make_shared<DeviceAsk>();
    for (auto &[text, needs] : unlike) {
        add_key_part(made.text, text);
        ask->any_of.push_back(std::move(needs));
    }
    if (!made.text.empty())
        made.ask = std::move(ask);
    return made;
}

std::string asked_words(const DeviceNeeds &needs)
{
    std::string words;
    for (std::size_t c = 0; c < needs.claims.size(); c++) {
        std::string requests;
        std::size_t named = 0;
        for (const DevicesWanted &one : needs.wanted) {
            if (one.claim != c || named > most_named)
                continue;
            requests += requests.empty() ? "" : ", ";
            requests += named < most_named ? devices_words(one) : "…";
            named++;
        }
        if (requests.empty())
            continue;
        words += words.empty() ? "" : " and ";
        words += std::format("{} ({})", title_of(*needs.claims[c]), requests);
    }
    return words;
}

} // namespace bridge
