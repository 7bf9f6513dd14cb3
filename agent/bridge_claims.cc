// SPDX-License-Identifier: GPL-2.0-or-later
// ResourceClaims: what each Pod's need, and which devices of a job they get.
#include "agent/bridge.h"

#include "agent/decide_parts.h"
#include "agent/gang_facts.h"
#include "agent/gres_counts.h"
#include "agent/words.h"
#include "common/log.h"

#include <algorithm>
#include <format>
#include <utility>

namespace bridge {

namespace {

constexpr std::chrono::seconds access_pause{30}; // until rights are looked for
constexpr std::chrono::seconds device_pause{1};  // until a device is free
constexpr std::chrono::seconds claim_patience{3}; // until a template's is made
// As long as it takes to give back a claim whose Pod has ended.
constexpr std::chrono::seconds device_patience{10};
constexpr std::chrono::minutes exclusion{2}; // what a node has may change
constexpr std::size_t most_unused_users = 1000; // of claims that are not there
constexpr char admin_label[] = "resource.kubernetes.io/admin-access";
constexpr char twice_problem[] = "devices";

// Of several Pods with one claim the job of one has its devices.
std::vector<DeviceId> share_of(const Pod &pod, const ResourceClaim &claim)
{
    bool first = !claim.reserved_for.empty() &&
                 claim.reserved_for.front().uid == pod.uid;
    return first ? claim.devices : std::vector<DeviceId>{};
}

bool awaits_template(const Pod &pod, const ClaimStore &claims)
{
    return std::ranges::any_of(pod.resource_claims, [&](const PodClaim &one) {
        return !one.from_template.empty() && !one.not_needed &&
               (one.claim.empty() || !claims.find({pod.key.ns, one.claim}));
    });
}

// By the API server's clock: one that goes wrong makes none young for ever.
bool is_young(const Pod &pod)
{
    auto age = std::chrono::system_clock::now() - pod.created;
    return age >= -claim_patience && age < claim_patience;
}

// As each such Pod does at first: no word is worth it.
bool awaits_templates(const Gang &gang, const ClaimStore &claims)
{
    return std::ranges::any_of(gang.pods, [&](const PodPtr &pod) {
        return waits(gang, *pod) && is_young(*pod) &&
               awaits_template(*pod, claims);
    });
}

std::string no_gres_words(const Gang &gang)
{
    for (const PodPtr &pod : gang.pods)
        if (pod->resource_claims.empty() && !pod->extended.empty())
            return no_extended_gres_words(*pod);
    return no_device_gres_words();
}

bool has_nodes(const Gang &gang)
{
    return gang.job && is_allocated(gang.job->state) &&
           !gang.job->nodes.empty();
}

// What is free now may be no more than what it had itself.
bool gives_back(const GangEntry &entry, Clock::time_point now)
{
    const std::size_t release = Action(ReleaseClaims{}).index();
    return entry.in_flight == release ||
           (entry.held_back == release && now < entry.held_until);
}

// Those that run are not given up for the sake of one that comes late.
bool may_be_overdue(const Gang &gang)
{
    return !gang.grouped || gang.job->state == JobState::configuring;
}

} // namespace

void Bridge::on(Listed<ResourceClaim> &claims)
{
    claims_.replace(std::move(claims.objects));
    claims_changed();
    nodes_change_soon();
    try_all_again();
}

void Bridge::on(Changed<ResourceClaim> &claim)
{
    ObjectKey key = claim.object.key;
    note_foreign(claim.object, claim.deleted);
    devices_freed_ |= claim.deleted;
    if (claim.deleted)
        claims_.remove(key);
    else
        claims_.put(std::move(claim.object));
    claims_changed();
    auto users = claim_users_.find(key);
    if (users == claim_users_.end())
        return;
    std::erase_if(users->second, [&](const std::string &uid) {
        return !gangs_.find(uid);
    });
    for (const std::string &uid : users->second)
        wake(uid);
    if (users->second.empty() || claim.deleted)
        claim_users_.erase(users); // who still names it comes back
}

// Nodes, drivers or classes say something else, or somebody has given devices
// back: who waits may go on. A job that is in the queue keeps its place there:
// what it may not have is looked at again when that is over.
void Bridge::wake_for_devices()
{
    if (!devices_.on() || !devices_.known())
        return;
    auto catalog = devices_.catalog();
    bool others = catalog != seen_catalog_;
    if (!std::exchange(devices_freed_, false) && !others)
        return;
    seen_catalog_ = std::move(catalog);
    for (auto &[uid, entry] : gangs_.all()) {
        if (!has_resource_claims(entry.gang) || !any_waits(entry.gang))
            continue;
        bool misses = entry.devices_missed_since || !entry.excluded.empty();
        bool queued = entry.gang.job &&
                      entry.gang.job->state == JobState::pending;
        if (!queued && !gives_back(entry, now_))
            entry.excluded.clear();
        if (others && entry.failures > 0)
            try_again(entry); // Slurm would not have its job
        else if (others || misses)
            wake(uid);
    }
}

// What others have allocated is not Slurm's to give, until they give it back.
void Bridge::note_foreign(const ResourceClaim &claim, bool deleted)
{
    ResourceClaimPtr before = claims_.find(claim.key);
    bool was = before && before->allocated && !before->allocated_by_us;
    bool is = !deleted && claim.allocated && !claim.allocated_by_us;
    devices_freed_ |= before && before->allocated && !claim.allocated;
    bool same = was && is && before->devices == claim.devices;
    if ((was || is) && !same)
        nodes_change_soon();
}

// Nobody but those who write claims prevents that: kubernetes.io says so of its
// own scheduler, too.
void Bridge::claims_changed()
{
    const std::set<DeviceId> &twice = claims_.taken_twice();
    if (twice.empty())
        solved(twice_problem);
    else
        problem(twice_problem, "device " + twice.begin()->str() +
                                   " is in several ResourceClaims");
}

// What follows from its claims as they are, before anything is decided.
void Bridge::note_devices(GangEntry &entry)
{
    Gang &gang = entry.gang;
    const Pod &pod = lead_of(gang);
    gang.devices.reset();
    gang.devices_at.clear();
    if (pod.terminal() || (gang.grouped && !waits(gang, pod)))
        return;
    GangDevices devices;
    if (!devices_.on()) {
        devices.objection = no_gres_words(gang);
    } else if (!ports_.access.may(Feature::devices)) {
        devices.why = no_devices_words();
        wake_at(entry, now_ + access_pause);
    } else if (!claims_known()) {
        devices.why = claims_unlisted_words();
        wake_at(entry, now_ + device_pause);
    } else if (may_use_extended(entry, devices)) {
        if (gang.grouped)
            read_gang_needs(entry, devices);
        else
            read_needs(entry, devices);
        bool only_waits = !gang.job && !pod.bound() && devices.left.empty() &&
                          devices.objection.empty();
        if (only_waits && awaits_templates(gang, claims_)) {
            wake_at(entry, now_ + device_pause);
            return;
        }
        gang.devices = std::make_shared<const GangDevices>(std::move(devices));
        return;
    }
    if (has_nodes(gang) && !pod.bound() && may_be_overdue(gang))
        note_bind_delay(entry); // not for ever
    gang.devices = std::make_shared<const GangDevices>(std::move(devices));
}

bool Bridge::claims_known() const
{
    return claims_.listed() && devices_.known();
}

// Who is woken when a claim changes.
void Bridge::note_claim_users(const Gang &gang, const Pod &pod)
{
    if (claim_users_.size() > 2 * gangs_.all().size() + most_unused_users)
        std::erase_if(claim_users_, [&](const auto &users) {
            return !claims_.find(users.first);
        });
    for (const PodClaim &one : pod.resource_claims)
        if (!one.claim.empty())
            claim_users_[{pod.key.ns, one.claim}].insert(gang.uid);
    if (!pod.extended.empty())
        claim_users_[extended_claim_key(pod)].insert(gang.uid);
}

void Bridge::read_needs(GangEntry &entry, GangDevices &devices)
{
    Gang &gang = entry.gang;
    const Pod &pod = lead_of(gang);
    note_claim_users(gang, pod);
    ClaimFacts facts = claim_facts(gang);
    facts.extended = extended_needs_of(entry, pod);
    DeviceNeeds needs = device_needs(pod, facts);
    if (pod.bound()) {
        devices.gres = gres_of_living(pod, needs);
        return;
    }
    devices.objection = needs.objection;
    devices.why = needs.why;
    devices.gres = task_gres(needs.wanted);
    narrow(gang, needs.selectors);
    narrow(gang, but_for_excluded(entry));
    if (!gang.job || !is_allocated(gang.job->state))
        devices.left = holds_of(pod);
    else if (has_nodes(gang) && gang.assumed_bound.empty())
        plan_for_job(entry, needs, devices);
}

// Those that have the Pod among their consumers, usable or not.
std::vector<ClaimHold> Bridge::holds_of(const Pod &pod) const
{
    std::vector<ClaimHold> made;
    for (const PodClaim &one : pod.resource_claims)
        if (auto claim = claims_.find({pod.key.ns, one.claim});
            claim && claim->is_reserved_for(pod.uid))
            made.push_back({claim->key, claim->uid, pod.uid});
    if (auto hold = extended_hold(pod))
        made.push_back(std::move(*hold));
    return made;
}

ClaimFacts Bridge::claim_facts(const Gang &gang)
{
    auto ns = namespaces_.find(gang.key.ns);
    return {
        .find_claim = [this](const ObjectKey &key) {
            return claims_.find(key);
        },
        .gres_for = [this](const DeviceRequest &request) {
            return gres_memo_.gres_for(devices_.catalog(), request);
        },
        .most_on_a_node = [this, &gang](const DeviceRequest &request) {
            return most_on_a_node(gang, request);
        },
        .asked_by_others = [this, &gang](const ResourceClaim &claim) {
            return asked_by_others(gang, claim);
        },
        .admin_access = ns != namespaces_.end() &&
                        ns->second.labels.contains(admin_label) &&
                        ns->second.labels.at(admin_label) == "true",
    };
}

Result<std::int64_t> Bridge::most_on_a_node(const Gang &gang,
                                            const DeviceRequest &request)
{
    auto known = devices_.catalog();
    const DeviceCatalog &catalog = *known;
    auto found = catalog.classes.find(request.class_name);
    if (found == catalog.classes.end())
        return 0;
    std::map<std::string, std::int64_t> counts; // by Node
    for (const DevicePool &pool : catalog.pools)
        for (const DevicePtr &device : pool.devices) {
            const Node *node = pool.usable() ? only_node_of(*device) : nullptr;
            if (!node || !slurm_names_.contains(node->name) ||
                !matches(value_of(gang.predicate), *node))
                continue;
            auto why = why_unfit(*device, request, found->second, *node);
            if (!why)
                return std::unexpected(why.error());
            counts[node->name] += why->empty();
        }
    std::int64_t most = 0;
    for (const auto &[name, count] : counts)
        most = std::max(most, count);
    return most;
}

// Where alone it can be used; null: on several Nodes, or on none that we know.
const Node *Bridge::only_node_of(const Device &device) const
{
    const DeviceScope *scope = device.scope.get();
    bool one = scope && scope->kind == DeviceScope::Kind::node;
    return one ? find_node(scope->node) : nullptr;
}

// One job gets the devices of a claim that several Pods share; the others follow
// them.
bool Bridge::asked_by_others(const Gang &gang, const ResourceClaim &claim)
{
    auto users = claim_users_.find(claim.key);
    if (users == claim_users_.end())
        return false;
    return std::ranges::any_of(users->second, [&](const std::string &uid) {
        const GangEntry *other = uid == gang.uid ? nullptr : gangs_.find(uid);
        if (!other || !any_waits(other->gang))
            return false;
        const std::optional<Job> &job = other->gang.job;
        bool asks = job && !is_ended(job->state) && !job->gres_per_task.empty();
        bool is_first = gang.job && !is_ended(gang.job->state) && asks &&
                        gang.job->ref.sluid < job->ref.sluid;
        return (asks && !is_first) || other->gang.submit_uncertain ||
               other->in_flight == Action(Submit{}).index();
    });
}

// Of a Pod whose job is lost: the same devices, as many as they are.
std::string Bridge::gres_of_living(const Pod &pod,
                                   const DeviceNeeds &needs)
{
    auto catalog = devices_.catalog();
    const auto &indexes = catalog->nodes;
    auto node = indexes.find(slurm_node_of(pod.node_name));
    std::map<std::pair<std::string, std::string>, int> sums;
    for (const ResourceClaimPtr &claim : needs.claims)
        for (const DeviceId &device : share_of(pod, *claim))
            if (auto where = node == indexes.end() ? std::nullopt
                                                   : node->second.find(device))
                sums[{where->gres, node->second.at(*where)->type}]++;
    std::string text;
    for (const auto &[kind, count] : sums)
        text += std::format("{}gres/{}:{}:{}", text.empty() ? "" : ",",
                            kind.first, kind.second, count);
    return text;
}

void Bridge::plan_for_job(GangEntry &entry, const DeviceNeeds &needs,
                          GangDevices &devices)
{
    const Job &job = *entry.gang.job;
    devices.unread = has_unread_gres(job);
    if (devices.unread)
        return;
    if (auto node = node_map_.find(job.nodes.front()); node != node_map_.end())
        devices.node = node->second;
    if (entry.claims_refused_of == job.ref) {
        devices.plan.misfit = entry.claims_refused;
        devices.plan.bad_node = true;
        return;
    }
    if (!devices.why.empty() || !devices.objection.empty()) {
        await_devices(entry, devices);
        return;
    }
    if (std::string why = why_by_plugin(lead_of(entry.gang), devices.node);
        !why.empty()) {
        devices.plan.misfit = why;
        devices.plan.bad_node = true;
        return;
    }
    devices.plan = plan_for_node(
        job, 0, needs, !job.gres_per_node.empty() || job.exclusive);
    if (!devices.plan.wait.empty())
        await_devices(entry, devices);
    else if (devices.plan.misfit.empty())
        entry.devices_missed_since.reset();
}

// For the Pods of these needs, which all go to the node of that place in
// job.nodes.
ClaimsPlan Bridge::plan_for_node(const Job &job, std::size_t node,
                                 const DeviceNeeds &needs, bool may_exceed)
{
    ClaimsPlan plan;
    auto name = node_map_.find(job.nodes[node]);
    const Node *there =
        name == node_map_.end() ? nullptr : find_node(name->second);
    if (!there) {
        plan.wait = "its Node is not known";
        return plan;
    }
    auto given = given_devices(job, node);
    if (!given) {
        bool later = given.error().code == Code::busy;
        (later ? plan.wait : plan.misfit) = given.error().message;
        plan.bad_node = true;
        return plan;
    }
    auto known = devices_.catalog();
    return plan_claims(
        {.needs = needs,
         .given = std::move(*given),
         .may_exceed = may_exceed,
         .classes = known->classes,
         .pools = known->pools,
         .node = *there,
         .holder_of = [this](const DeviceId &device, const std::string &uid) {
             return claims_.holder_of(device, uid, now_);
         },
         .taken_in = [this](const DevicePool &pool) {
             return claims_.taken_in(pool.driver, pool.name, now_);
         }});
}

// A device that was another Pod's is free a moment later; one that stays taken
// is not Slurm's to give.
void Bridge::await_devices(GangEntry &entry, GangDevices &devices)
{
    wake_at(entry, now_ + device_pause);
    if (may_be_overdue(entry.gang))
        note_bind_delay(entry);
    if (!entry.devices_missed_since)
        entry.devices_missed_since = now_;
    if (now_ - *entry.devices_missed_since >= device_patience &&
        devices.plan.misfit.empty())
        devices.plan.misfit = devices.plan.wait;
}

// Code::conflict when an index stands for no device, Code::busy while that is not
// known.
Result<std::vector<DevicePtr>> Bridge::given_devices(const Job &job,
                                                     std::size_t node)
{
    auto known = devices_.catalog();
    const DeviceCatalog &catalog = *known;
    std::vector<DevicePtr> made;
    if (node >= job.gres_on.size())
        return made;
    const std::string &name = job.nodes[node];
    auto index = catalog.nodes.find(name);
    if (index == catalog.nodes.end() && !job.gres_on[node].empty())
        return fail(Code::busy, "which devices its GRES are is not known yet");
    if (index == catalog.nodes.end())
        return made;
    for (const JobGres &gres : job.gres_on[node]) {
        if (!index->second.slots().contains(gres.gres))
            continue; // none of ours
        for (std::uint32_t i : gres.indexes) {
            auto device = device_at(catalog, name, {gres.gres, i});
            if (!device)
                return fail(Code::conflict,
                            std::format("index {} of its GRES {} stands for no "
                                        "device now",
                                        i, gres.gres));
            made.push_back(std::move(device));
        }
    }
    return made;
}

std::vector<NodeSelector> Bridge::but_for_excluded(GangEntry &entry)
{
    std::erase_if(entry.excluded, [&](const auto &node) {
        return node.second <= now_;
    });
    if (entry.excluded.empty())
        return {};
    NodeRequirement none_of{"metadata.name", true, NodeOperator::not_in, {}};
    Clock::time_point next = Clock::time_point::max();
    for (const auto &[name, until] : entry.excluded) {
        none_of.values.push_back(name);
        next = std::min(next, until);
    }
    wake_at(entry, next);
    return {NodeSelector{NodeTerm{std::move(none_of)}}};
}

// Of a job that is given up for its devices.
void Bridge::exclude_node(GangEntry &entry)
{
    const Gang &gang = entry.gang;
    if (!gang.devices || !gang.devices->plan.bad_node)
        return;
    const ClaimsPlan &plan = gang.devices->plan;
    const std::string &why = plan.misfit.empty() ? plan.wait : plan.misfit;
    if (why.empty() || gang.devices->node.empty())
        return;
    entry.excluded[gang.devices->node] = now_ + exclusion;
    entry.excluded_for = why;
}

void Bridge::note_claims_refused(GangEntry &entry,
                                 const ClaimsRefused &refused)
{
    log_warning("a claim was not taken", {{"Gang", entry.gang.key.str()},
                                          {"err", refused.why}});
    if (!entry.gang.job)
        return;
    entry.claims_refused = refused.why;
    entry.claims_refused_on = refused.node;
    entry.claims_refused_of = entry.gang.job->ref;
    if (entry.gang.devices)
        for (const ClaimPlan &plan : entry.gang.devices->plan.claims)
            claims_.release_hold(plan.uid);
    tell(entry, not_bound_words(entry.gang.job->ref, refused.why));
}

// Taken from now on: another Pod's plan may be made before the watch tells.
void Bridge::hold_devices(const Bind &bind)
{
    for (const ClaimPlan &plan : bind.claims)
        if (!plan.allocated)
            claims_.hold(plan.key, plan.uid, plan.devices(), now_);
}

} // namespace bridge
