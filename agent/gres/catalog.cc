// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gres/catalog.h"

#include <algorithm>
#include <format>
#include <optional>
#include <set>

namespace bridge {

namespace {

using Kind = DeviceKind;

struct Tally {
    std::size_t fit = 0;
    std::size_t unfit = 0;
    GresCounts amounts; // the most that one which fits would take
};

std::uint64_t sum_of(const GresCounts &amounts)
{
    std::uint64_t sum = 0;
    for (const auto &[gres, amount] : amounts)
        sum += amount;
    return sum;
}

// Counts for a request how many devices of each kind fit.
class Count {
  public:
    Count(const DeviceRequest &request, const DeviceClass &device_class,
          const DeviceCatalog &catalog, CelBudget &budget)
        : request_(request), class_(device_class), catalog_(catalog),
          budget_(budget)
    {
        for (const auto &[node, amounts] : catalog.amounts)
            for (const auto &[gres, amount] : amounts)
                there_.insert(gres);
        if (!catalog.cpus.empty())
            there_.insert(cpu_gres);
    }

    void count_device(const Device &device, const Kind &kind)
    {
        add_to_tally(
            device, tallies_[kind],
            those_there(amounts_of_partition(device, catalog_.counted)));
    }

    // Counts a device that is given in shares.
    void count_share(const Device &device)
    {
        auto consumed = consumed_capacity(device, request_);
        GresCounts amounts = those_there(amounts_of_share(
            device, consumed.value_or(Capacities{}), catalog_.counted));
        if (consumed && !amounts.empty())
            add_to_tally(device, shares_[names_in(amounts)], amounts);
    }

    // Returns the GRES of which most devices fit, or "" if none fits.
    std::string best_gres() const
    {
        std::map<std::string, std::size_t> fits;
        for (const auto &[kind, tally] : tallies_)
            fits[kind.gres] += tally.fit;
        auto best = std::ranges::max_element(
            fits, {}, [](const auto &entry) { return entry.second; });
        return best == fits.end() || best->second == 0 ? "" : best->first;
    }

    // Names a type if no other type has a device that fits, or if the type
    // takes least of what is counted without indexes.
    std::optional<GresWish> wish(const std::string &gres) const
    {
        std::size_t types = 0;
        const Kind *least = nullptr;
        bool alike = true;   // all that fit take as much
        bool others = false; // of other types, none of which fits
        GresWish made{gres, {}, true};
        for (const auto &[kind, tally] : tallies_) {
            if (kind.gres != gres)
                continue;
            if (tally.fit == 0) {
                others = true;
                continue;
            }
            types++;
            made.exact &= tally.unfit == 0;
            alike &= !least || tallies_.at(*least).amounts == tally.amounts;
            if (!least ||
                sum_of(tally.amounts) < sum_of(tallies_.at(*least).amounts))
                least = &kind;
        }
        if (types == 0)
            return std::nullopt;
        if (types == 1 || !alike) {
            made.type = least->type;
            made.exact = tallies_.at(*least).unfit == 0;
        } else {
            made.exact &= !others;
        }
        made.amounts = tallies_.at(*least).amounts;
        return made;
    }

    // Groups shared devices by the GRES that they consume and takes the group
    // in which most fit, since a job cannot request one GRES or another.
    std::optional<GresWish> share_wish() const
    {
        auto best = std::ranges::max_element(
            shares_, {}, [](const auto &entry) { return entry.second.fit; });
        if (best == shares_.end() || best->second.fit == 0)
            return std::nullopt;
        const Tally &tally = best->second;
        return GresWish{{}, {}, tally.unfit == 0, tally.amounts};
    }

    const std::optional<Error> &error() const { return error_; }
    // Returns true if the budget is spent and the count must stop; error() says
    // why.
    bool too_much() const { return error_ && budget_.spent(); }

  private:
    static std::set<std::string> names_in(const GresCounts &amounts)
    {
        std::set<std::string> names;
        for (const auto &[gres, amount] : amounts)
            names.insert(gres);
        return names;
    }

    // Drops the GRES that no node has, since Slurm refuses them. CPUs are kept
    // if some node has them as devices.
    GresCounts those_there(GresCounts amounts) const
    {
        std::erase_if(amounts, [this](const auto &amount) {
            return !there_.contains(amount.first);
        });
        return amounts;
    }

    void add_to_tally(const Device &device, Tally &tally,
                      const GresCounts &amounts)
    {
        auto reason = unfit_device_reason(device, request_, class_, budget_);
        if (!reason && (!error_ || budget_.spent()))
            error_ = reason.error();
        if (!reason || !reason->empty()) {
            tally.unfit++;
            return;
        }
        tally.fit++;
        for (const auto &[gres, amount] : amounts)
            tally.amounts[gres] = std::max(tally.amounts[gres], amount);
    }

    const DeviceRequest &request_;
    const DeviceClass &class_;
    const DeviceCatalog &catalog_;
    CelBudget &budget_;
    std::set<std::string> there_; // the GRES that nodes of Slurm count
    std::map<Kind, Tally> tallies_;
    std::map<std::set<std::string>, Tally> shares_; // by the GRES they consume
    std::optional<Error> error_; // the first, or what was too much
};

void count_all_devices(const DeviceCatalog &catalog, const DeviceKinds &kinds,
                       Count &count)
{
    for (const DevicePool &pool : catalog.pools)
        for (const DevicePtr &device : pool.devices) {
            if (!pool.usable())
                continue;
            if (auto kind = kinds.find(device.get()); kind != kinds.end())
                count.count_device(*device, kind->second);
            else if (has_counted_shares(*device, catalog.counted))
                count.count_share(*device);
            if (count.too_much())
                return;
        }
}

} // namespace

DeviceKinds kinds_of(const DeviceCatalog &catalog)
{
    std::map<DeviceId, Kind> by_id;
    for (const auto &[node, index] : catalog.nodes)
        for (const auto &[gres, slots] : index.slots())
            for (const DeviceSlot &slot : slots)
                if (!slot.absent)
                    by_id[slot.id] = {gres, slot.type};
    for (const auto &[node, cpus] : catalog.cpus)
        for (const DevicePtr &device : cpus)
            by_id[device->id()] = {cpu_gres, {}};
    DeviceKinds kinds;
    for (const DevicePool &pool : catalog.pools)
        for (const DevicePtr &device : pool.devices)
            if (auto kind = by_id.find(device->id()); kind != by_id.end())
                kinds.emplace(device.get(), kind->second);
    return kinds;
}

Result<GresWish> gres_for(const DeviceCatalog &catalog,
                          const DeviceKinds &kinds,
                          const DeviceRequest &request, CelBudget &budget)
{
    auto found = catalog.classes.find(request.class_name);
    if (found == catalog.classes.end())
        return fail(Code::not_found,
                    "there is no DeviceClass " + request.class_name);
    const DeviceClass &device_class = found->second;
    if (!device_class.unfit_reason.empty())
        return fail(Code::rejected,
                    std::format("DeviceClass {}: {}", device_class.name,
                                device_class.unfit_reason));
    Count count(request, device_class, catalog, budget);
    count_all_devices(catalog, kinds, count);
    if (count.too_much())
        return std::unexpected(*count.error());

    auto own = catalog.gres.find(request.class_name);
    auto wish =
        count.wish(own == catalog.gres.end() ? count.best_gres() : own->second);
    if (!wish)
        wish = count.share_wish();
    if (wish)
        return *wish;
    if (count.error())
        return std::unexpected(*count.error());
    if (own == catalog.gres.end())
        return fail(Code::not_found,
                    std::format("DeviceClass {} has no GRES in Slurm",
                                request.class_name));
    if (own->second == cpu_gres)
        return fail(Code::not_found,
                    std::format("no external node in Slurm has a device for "
                                "request {} of DeviceClass {}, and claims get "
                                "no CPUs of nodes with a slurmd",
                                request.name, request.class_name));
    return fail(Code::not_found,
                std::format("no node in Slurm has a device for request {} of "
                            "DeviceClass {}",
                            request.name, request.class_name));
}

DevicePtr device_at(const DeviceCatalog &catalog, const std::string &slurm_node,
                    const GresIndex &where)
{
    auto node = catalog.nodes.find(slurm_node);
    const DeviceSlot *slot =
        node == catalog.nodes.end() ? nullptr : node->second.at(where);
    if (!slot || slot->absent)
        return nullptr;
    return find_usable_device(catalog.pools, slot->id);
}

} // namespace bridge
