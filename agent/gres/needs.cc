// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gres/needs.h"

#include "agent/gres/cel_limits.h"
#include "agent/gres/fit_counts.h"
#include "common/slurm/gres_sums.h"

#include <algorithm>
#include <format>
#include <set>
#include <utility>

namespace bridge {

namespace {

constexpr std::int64_t max_devices = max_claim_devices;

// A Pod may have hundreds of requests, and for each all Nodes may be looked at.
constexpr std::size_t max_cost = cel_limits::of_pod;

class Reader {
  public:
    Reader(const Pod &pod, const ClaimFacts &facts) : pod_(pod), facts_(facts)
    {
    }

    DeviceNeeds read()
    {
        for (const PodClaim &entry : pod_.resource_claims)
            read_entry(entry);
        read_extended();
        needs_.cost = max_cost - budget_.left();
        return std::move(needs_);
    }

  private:
    void set_unfit_reason(std::string reason)
    {
        if (needs_.unfit_reason.empty())
            needs_.unfit_reason = std::move(reason);
    }

    void wait(std::string reason)
    {
        if (needs_.reason.empty())
            needs_.reason = std::move(reason);
    }

    void read_entry(const PodClaim &entry)
    {
        if (entry.unknown)
            return set_unfit_reason(std::format(
                "the entry {} of spec.resourceClaims names neither a "
                "ResourceClaim nor a template, which is not supported",
                entry.entry));
        if (entry.not_needed)
            return;
        if (entry.claim.empty())
            return wait(std::format("The ResourceClaim {}, from template {}, "
                                    "has not been created yet.",
                                    entry.entry, entry.from_template));
        if (!seen_.insert(entry.claim).second)
            return;
        auto claim = facts_.find_claim({pod_.key.ns, entry.claim});
        if (!claim)
            return wait(missing_claim_reason(entry));
        if (!entry.from_template.empty() && !claim->pod_group.empty())
            return set_unfit_reason(std::format(
                "all Pods of PodGroup {} share the ResourceClaim {}, which is "
                "not supported: remove {} from spec.resourceClaims of the "
                "PodGroup, so that each Pod gets a claim of its own",
                claim->pod_group, claim->key.name, entry.entry));
        if (std::string reason = unusable_claim_reason(entry, *claim);
            !reason.empty())
            return wait(std::move(reason));
        add(std::move(claim));
    }

    // kube-controller-manager makes another claim from a template, but nobody
    // makes a user's claim again.
    std::string missing_claim_reason(const PodClaim &entry) const
    {
        bool deleted = facts_.was_deleted &&
                       facts_.was_deleted({pod_.key.ns, entry.claim});
        return std::format("The ResourceClaim {} {}", entry.claim,
                           deleted ? "was deleted: the Pod waits until there "
                                     "is one of that name again."
                                   : "does not exist yet.");
    }

    void read_extended()
    {
        const ExtendedNeeds &extended = facts_.extended;
        if (!extended.unfit_reason.empty())
            set_unfit_reason(extended.unfit_reason);
        if (!extended.reason.empty())
            wait(extended.reason);
        needs_.plugins = extended.plugins;
        for (const PluginWish &one : extended.plugins)
            needs_.selectors.push_back(where_offered(one.resource));
        if (!extended.claim && extended.plugins.empty())
            return;
        needs_.extended.push_back(extended);
        if (!extended.claim)
            return;
        if (seen_.insert(extended.claim->key.name).second)
            add(extended.claim);
    }

    void add(ResourceClaimPtr claim)
    {
        needs_.claims.push_back(claim);
        needs_.consumers.push_back(pod_.uid);
        if (!claim->allocated)
            read_requests(claim);
        else if (claim->places)
            needs_.selectors.push_back(*claim->places);
    }

    std::string unusable_claim_reason(const PodClaim &entry,
                                      const ResourceClaim &claim) const
    {
        if (claim.deleting)
            return std::format("The ResourceClaim {} is being deleted.",
                               claim.key.name);
        // Any Pod can name such a claim, also as if a user had made it.
        bool of_one_pod = !entry.from_template.empty() ||
                          !claim.pod_claim_name.empty() ||
                          claim.for_extended_resources;
        if (of_one_pod && claim.owner_uid != pod_.uid)
            return std::format(
                "The ResourceClaim {} was not made for this Pod.",
                claim.key.name);
        if (claim.reserved_for.size() >= max_consumers &&
            !claim.is_reserved_for(pod_.uid))
            return std::format("The ResourceClaim {} has {} consumers already.",
                               claim.key.name, claim.reserved_for.size());
        return {};
    }

    void read_requests(const ResourceClaimPtr &claim)
    {
        if (!claim->unfit_reason.empty())
            return set_unfit_reason(std::format("the ResourceClaim {}: {}",
                                                claim->key.name,
                                                claim->unfit_reason));
        if (facts_.asked_by_others(*claim))
            return wait(std::format("The ResourceClaim {} is about to get its "
                                    "devices for another Pod.",
                                    claim->key.name));
        auto read = [this, &claim] {
            std::size_t before = budget_.left();
            ClaimAnswer answer = answer_for(*claim);
            if (!claim->resource_version.empty())
                needs_.cost_of_kept += before - budget_.left();
            return answer;
        };
        ClaimAnswer own =
            facts_.remembered ? facts_.remembered(claim, read) : read();
        if (!own.unfit_reason.empty())
            set_unfit_reason(std::move(own.unfit_reason));
        if (!own.reason.empty()) {
            needs_.unanswered |= own.unanswered && needs_.reason.empty();
            wait(std::move(own.reason));
        }
        for (DevicesWanted &one : own.wanted) {
            one.claim = needs_.claims.size() - 1;
            needs_.wanted.push_back(std::move(one));
        }
    }

    ClaimAnswer answer_for(const ResourceClaim &claim)
    {
        ClaimAnswer made;
        bool is_first = budget_.left() == max_cost;
        std::int64_t sum = 0;
        budget_.outdated = false;
        for (const ClaimRequest &group : claim.requests) {
            auto choice = choose(group, made);
            if (!choice && choice.error().code == Code::busy) {
                made.unanswered = true;
                made.reason = choice.error().message;
                continue; // others can be asked meanwhile
            }
            if (!choice) {
                // What others have cost may be remembered the next time.
                made.unanswered =
                    budget_.outdated || (budget_.spent() && !is_first);
                made.reason = std::format("T{} gets no devices: {}.",
                                          title_of(claim).substr(1),
                                          choice.error().message);
                return made;
            }
            sum += choice->count;
            made.wanted.push_back(std::move(*choice));
        }
        if (sum > max_devices && made.unfit_reason.empty())
            refuse(made,
                   std::format("the ResourceClaim {} asks for {} devices, more "
                               "than {}",
                               claim.key.name, sum, max_devices));
        return made;
    }

    // Nothing is refused for good for what was true before.
    void refuse(ClaimAnswer &answer, std::string reason)
    {
        if (budget_.outdated) {
            answer.unanswered = true;
            answer.reason = std::move(reason);
        } else {
            answer.unfit_reason = std::move(reason);
        }
    }

    // Returns the first choice that can be satisfied, or why the last one
    // cannot.
    Result<DevicesWanted> choose(const ClaimRequest &group, ClaimAnswer &made)
    {
        Result<DevicesWanted> last =
            fail(Code::not_found, "request " + group.name + " has no choice");
        for (const DeviceRequest &request : group.choices) {
            last = want(request, group.choices.size() > 1, made.unfit_reason);
            // As in kube-scheduler, a choice that cannot be decided ends the
            // search.
            if (last || last.error().code != Code::not_found)
                break;
        }
        return last;
    }

    // has_choice: another choice may fit if this one never can.
    Result<DevicesWanted> want(const DeviceRequest &request, bool has_choice,
                               std::string &unfit_reason)
    {
        DevicesWanted made{0, &request, {}, request.count};
        if (request.admin_access && !facts_.admin_access &&
            unfit_reason.empty())
            unfit_reason =
                std::format("request {} has adminAccess, which its namespace "
                            "does not allow: it lacks the label "
                            "resource.kubernetes.io/admin-access=true",
                            request.name);
        // adminAccess is not counted and needs no GRES, but its class must
        // exist all the same.
        auto wish = wish_for(request);
        if (!wish)
            return std::unexpected(wish.error());
        made.wish = std::move(*wish);
        if (!request.all && request.count > max_devices)
            return fail(Code::not_found,
                        std::format("request {} asks for more devices than a "
                                    "claim can have, {}",
                                    request.name, max_devices));
        if (!request.all && !has_choice)
            return unless_too_many(std::move(made));
        auto most = facts_.most_on_a_node(request, budget_);
        if (!most)
            return std::unexpected(most.error());
        if (*most == 0 || (!request.all && *most < request.count))
            return fail(
                Code::not_found,
                std::format("no node has {} for request {}",
                            request.all ? "a device" : "so many devices",
                            request.name));
        if (request.all)
            made.count = *most;
        return made;
    }

    // Slurm would refuse the job, and could not say why.
    Result<DevicesWanted> unless_too_many(DevicesWanted made)
    {
        const DeviceRequest &request = *made.request;
        bool counted = !request.admin_access && !made.wish.gres.empty();
        if (request.count == 1 || !counted || !facts_.most_on_any_node)
            return made;
        auto most = facts_.most_on_any_node(request, budget_);
        if (!most)
            return std::unexpected(most.error());
        if (*most < request.count)
            return fail(Code::not_found,
                        std::format("request {} asks for {} devices of "
                                    "DeviceClass {}, and the node that has "
                                    "most of them has {}",
                                    request.name, request.count,
                                    request.class_name, *most));
        return made;
    }

    Result<GresWish> wish_for(const DeviceRequest &request)
    {
        if (!budget_.spent()) {
            auto wish = facts_.gres_for(request, budget_);
            if (!wish || !budget_.spent())
                return wish;
        }
        return fail(Code::rejected, std::format("request {}: {}", request.name,
                                                too_many_nodes));
    }

    const Pod &pod_;
    const ClaimFacts &facts_;
    ReadBudget budget_{max_cost};
    DeviceNeeds needs_;
    std::set<std::string> seen_;
};

} // namespace

std::string title_of(const ResourceClaim &claim)
{
    return claim.resource_version.empty()
               ? "the claim for its extended resources"
               : "the ResourceClaim " + claim.key.name;
}

DeviceNeeds device_needs(const Pod &pod, const ClaimFacts &facts)
{
    return Reader(pod, facts).read();
}

void add_needs(DeviceNeeds &to, const DeviceNeeds &more)
{
    std::size_t before = to.claims.size();
    to.claims.insert(to.claims.end(), more.claims.begin(), more.claims.end());
    to.consumers.insert(to.consumers.end(), more.consumers.begin(),
                        more.consumers.end());
    for (DevicesWanted wanted : more.wanted) {
        wanted.claim += before;
        to.wanted.push_back(std::move(wanted));
    }
    to.selectors.insert(to.selectors.end(), more.selectors.begin(),
                        more.selectors.end());
    to.extended.insert(to.extended.end(), more.extended.begin(),
                       more.extended.end());
    to.plugins.insert(to.plugins.end(), more.plugins.begin(),
                      more.plugins.end());
}

ResourceClaimPtr shared_claim(const std::vector<DeviceNeeds> &pods)
{
    std::set<ResourceClaimPtr> seen;
    for (const DeviceNeeds &pod : pods)
        for (const ResourceClaimPtr &claim : pod.claims)
            if (!claim->allocated && !seen.insert(claim).second)
                return claim;
    return nullptr;
}

namespace {

bool is_gres(const DevicesWanted &wanted)
{
    return !wanted.request->admin_access && !asks_cpus(wanted);
}

GresSums sums_of(const DeviceNeeds &needs, const std::set<std::string> &untyped)
{
    GresSums sums;
    auto add = [&](const std::string &gres, const std::string &type,
                   std::int64_t count) {
        sums[{gres, untyped.contains(gres) ? std::string() : type}] += count;
    };
    for (const DevicesWanted &one : needs.wanted) {
        if (one.request->admin_access)
            continue;
        if (is_gres(one) && !one.wish.gres.empty())
            add(one.wish.gres, one.wish.type, one.count);
        for (const auto &[gres, amount] : one.wish.amounts)
            if (gres != cpu_gres)
                add(gres, {}, static_cast<std::int64_t>(amount) * one.count);
    }
    for (const PluginWish &one : needs.plugins)
        add(one.gres, one.type, one.count);
    return sums;
}

void add_untyped_gres(const DeviceNeeds &needs, std::set<std::string> &untyped)
{
    for (const DevicesWanted &one : needs.wanted)
        if (is_gres(one) && one.wish.type.empty())
            untyped.insert(one.wish.gres);
}

} // namespace

// Slurm refuses a GRES that is requested both with and without a type (see
// _merge_generic_data() in its gres.c); it is then only requested without.
std::string task_gres(const DeviceNeeds &needs)
{
    std::set<std::string> untyped;
    add_untyped_gres(needs, untyped);
    return text_of(sums_of(needs, untyped));
}

std::string task_gres(const std::vector<DeviceNeeds> &pods)
{
    std::set<std::string> untyped;
    for (const DeviceNeeds &pod : pods)
        add_untyped_gres(pod, untyped);
    GresSums most;
    for (const DeviceNeeds &pod : pods)
        for (const auto &[kind, count] : sums_of(pod, untyped))
            most[kind] = std::max(most[kind], count);
    return text_of(most);
}

} // namespace bridge
