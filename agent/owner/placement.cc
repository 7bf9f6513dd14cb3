// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/placement.h"

#include "agent/batch/pod.h"
#include "agent/decide/decide_parts.h"
#include "agent/decide/messages.h"
#include "agent/decide/too_large.h"
#include "agent/gang/facts.h"
#include "agent/gang/volumes.h"
#include "agent/owner/pauses.h"

#include <algorithm>
#include <utility>

namespace bridge {

namespace {

// Returns whether a job that Slurm knows and has placed accounts for the Pod
// where it is.
bool covered(const Gang &gang, const Pod &pod)
{
    return is_placed(gang) && lives_by_job(gang, pod) &&
           !placed_elsewhere(gang, pod);
}

PlacementTable::Asker asker_for(const Gang &gang)
{
    return {gang.key.ns, gang.job && !is_ended(gang.job->state)};
}

const DeviceCondition &devices_of(const Gang &gang)
{
    return value_of(gang.placement.predicate).devices();
}

// It is not known yet where its devices may be.
bool lacks_devices(const Gang &gang)
{
    return has_resource_claims(gang) &&
           (!gang.devices || gang.devices->unanswered);
}

// Its job waits, and the places of its volumes or devices have not been read
// since the start, or its placement does not follow them yet.
bool asks_unknown(const GangEntry &entry)
{
    const Gang &gang = entry.gang;
    if (!gang.job || gang.job->state != JobState::pending || !wants_node(gang))
        return false;
    return !entry.volumes_used || (!gang.volumes && any_claims(gang)) ||
           lacks_devices(gang);
}

} // namespace

void narrow(PredicateMemo &memo, PlacementFacts &facts,
            const std::vector<NodeSelector> &selectors)
{
    if (selectors.empty())
        return;
    auto both = memo.make(facts.predicate, selectors,
                          value_of(facts.predicate).devices());
    if (both)
        facts.predicate = std::move(*both);
    else
        facts.nowhere = submit_refused_message(both.error().message);
}

// A job that was submitted without the condition, when any node with its GRES
// would do, keeps its place in the queue.
void narrow(PredicateMemo &memo, PlacementFacts &facts, const Gang &gang,
            const DeviceCondition &devices)
{
    const Predicate &own = value_of(facts.predicate);
    bool queued = gang.job && gang.job->state == JobState::pending;
    if (devices.text.empty() ||
        (queued && gang.job->features.contains(own.feature())))
        return;
    auto both = memo.make(facts.predicate, {}, devices);
    if (both)
        facts.predicate = std::move(*both);
    else
        facts.nowhere = submit_refused_message(both.error().message);
}

void Placement::set_limit()
{
    table_.set_limit(context_.conf->max_selections_in_namespace);
}

PlacementFacts Placement::begin(GangEntry &entry)
{
    const Gang &gang = entry.gang;
    PlacementFacts facts;
    if (gang.pods.empty())
        return facts;
    const Pod &first = lead_of(gang); // all Pods require the same
    facts.predicate = first.predicate;
    entry.volumes_used = true;
    if (!any_claims(gang))
        return facts;
    // The Pods' volumes restrict the Nodes, too.
    if (!first.bound() && !context_.ports.access.may(Feature::volumes)) {
        facts.nowhere = no_volume_rights_message();
        agenda_.wake_at(entry, context_.now + access_pause);
    }
    if (gang.volumes)
        narrow(memo_, facts, gang.volumes->selectors);
    return facts;
}

PlacementFacts Placement::finish(const Gang &gang)
{
    PlacementFacts facts = gang.placement;
    if (wants_node(gang)) {
        find_node(gang, facts);
        PredicatePtr preferred = preferred_of(gang);
        if (preferred && need(gang, preferred) == PlacementTable::State::ready)
            facts.preferred = std::move(preferred);
    } else if (is_placed(gang) && !lead_of(gang).bound()) {
        facts.misplaced_reason = misplaced_reason(gang);
    }
    return facts;
}

// Slurm tries the preference instead of the constraint, so it asks for the same
// devices. Null: there is none.
PredicatePtr Placement::preferred_of(const Gang &gang)
{
    const PredicatePtr &preferred = lead_of(gang).preferred;
    const DeviceCondition &devices = devices_of(gang);
    if (!preferred || devices.text.empty())
        return preferred;
    return memo_.make(preferred, {}, devices).value_or(nullptr);
}

// The same, if that costs nothing; else null.
PredicatePtr Placement::known_preferred(const Gang &gang) const
{
    const PredicatePtr &preferred = lead_of(gang).preferred;
    const DeviceCondition &devices = devices_of(gang);
    if (!preferred || devices.text.empty())
        return preferred;
    return memo_.find(preferred, {}, devices);
}

// The Node selection or the devices: which of them no Node satisfies.
std::string Placement::nowhere_words(const Gang &gang)
{
    const PredicatePtr &predicate = gang.placement.predicate;
    const Predicate &asked = value_of(predicate);
    if (asked.devices().text.empty())
        return nowhere_message(asked);
    if (gang.devices && selected_.contains(asked.feature()))
        return no_fitting_devices_message(gang.devices->asked) +
               most_devices_message(gang, nodes_.sizes_of(""));
    auto selection = memo_.make(predicate, {}, {});
    return nowhere_message(value_of(selection.value_or(nullptr)));
}

PlacementTable::State Placement::need(const Gang &gang,
                                      const PredicatePtr &predicate)
{
    auto state = table_.need(predicate, asker_for(gang), context_.now);
    if (table_.pop_new())
        sync_.sync_at(pace_.next(gang.key.ns, context_.now));
    return state;
}

// Sets why the gang can have no node now, and whether more Nodes would help.
void Placement::find_node(const Gang &gang, PlacementFacts &facts)
{
    auto state = need(gang, gang.placement.predicate);
    if (state != PlacementTable::State::ready)
        waits_.insert(gang.uid);
    switch (state) {
    case PlacementTable::State::ready:
        facts.nowhere = too_large_reason(gang);
        facts.no_node = !facts.nowhere.empty();
        return;
    case PlacementTable::State::nowhere:
        facts.nowhere = nowhere_words(gang);
        facts.no_node = true;
        return;
    case PlacementTable::State::full:
        facts.nowhere =
            too_many_predicates_message(PlacementTable::max_predicates);
        return;
    case PlacementTable::State::full_in_namespace:
        facts.nowhere = too_many_in_namespace_message(
            context_.conf->max_selections_in_namespace);
        return;
    case PlacementTable::State::unknown:
        return; // is_known() waits for the sync
    }
}

// Asked again after each sync that found a change: a node may have become large
// enough. A batch job is in Slurm's queue already.
std::string Placement::too_large_reason(const Gang &gang)
{
    if (gang.batch)
        return {};
    std::string reason = too_large_message(
        gang, nodes_.sizes_of(value_of(gang.placement.predicate).feature()));
    if (!reason.empty())
        waits_.insert(gang.uid);
    return reason;
}

bool Placement::is_known(const Gang &gang)
{
    PredicatePtr preferred = preferred_of(gang);
    if (table_.doubted())
        sync_.sync_when_due(); // its plugin may stay away
    bool known =
        !table_.doubted() &&
        need(gang, gang.placement.predicate) !=
            PlacementTable::State::unknown &&
        (!preferred || need(gang, preferred) != PlacementTable::State::unknown);
    if (!known)
        waits_.insert(gang.uid);
    return known;
}

// The job may have waited for long since its feature was set.
std::string Placement::misplaced_reason(const Gang &gang) const
{
    for (const std::string &name : gang.job->nodes) {
        auto node = nodes_.slurm_nodes().find(name);
        if (node == nodes_.slurm_nodes().end())
            continue; // place() reports that
        const Node *known = nodes_.find(node->second);
        if (!known) // Slurm has not heard of that yet
            return "the Node " + node->second + " is gone";
        std::string reason =
            mismatch(value_of(gang.placement.predicate), *known);
        if (!reason.empty())
            return "the Node " + known->name + " is not suitable: " + reason;
    }
    return {};
}

// Nothing is made for this, for thousands of gangs at once. Each decision about
// a gang that waits records the same.
void Placement::record_needs()
{
    for (const auto &[uid, entry] : gangs_.all()) {
        const Gang &gang = entry.gang;
        if (!wants_node(gang) || lacks_devices(gang))
            continue; // if its job waits, nodes keep the features they have
        const Pod &first = lead_of(gang);
        PlacementTable::Asker asker = asker_for(gang);
        table_.need(gang.volumes || gang.devices ? gang.placement.predicate
                                                 : first.predicate,
                    asker, context_.now);
        if (PredicatePtr preferred = known_preferred(gang))
            table_.need(preferred, asker, context_.now);
    }
}

// A job for living Pods can be requested once their node has a feature of its
// own; the node keeps the feature while that job waits.
FeatureWishes Placement::wishes(bool all_known)
{
    FeatureWishes wishes;
    wishes.keep_others = !all_known;
    for (const auto &[uid, entry] : gangs_.all()) {
        wishes.keep_others |= asks_unknown(entry);
        for (const PodPtr &pod : entry.gang.pods) {
            if (!pod->living() || covered(entry.gang, *pod))
                continue;
            if (nodes_.is_slurms(pod->node_name))
                wishes.pins.insert(nodes_.slurm_name_of(pod->node_name));
        }
    }
    record_needs();
    (void)table_.pop_new(); // they are among the wishes
    wishes.predicates = table_.wishes();
    wishes.batch = batch_predicate(*context_.conf);
    return wishes;
}

void Placement::take(const NodeSyncResult &synced, bool doubted)
{
    selected_ = synced.selected;
    if (table_.take(synced.asked, synced.placed, !synced.retry))
        for (const auto &[uid, entry] : gangs_.all())
            if (wants_node(entry.gang)) // its Pods may have to be told
                agenda_.wake(uid);
    if (doubted)
        doubt();
    agenda_.wake(std::exchange(waits_, {}));
}

Clock::time_point Placement::next_drop() const
{
    return table_.next_drop(context_.conf->feature_linger);
}

void Placement::drop_unused()
{
    if (next_drop() > context_.now)
        return;
    record_needs();
    if (table_.drop_unused(context_.now, context_.conf->feature_linger))
        sync_.sync_when_due();
}

} // namespace bridge
