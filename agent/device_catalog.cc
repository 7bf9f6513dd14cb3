// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/device_catalog.h"

#include <algorithm>
#include <compare>
#include <format>
#include <optional>
#include <utility>

namespace bridge {

namespace {

// A GRES and a type of it, as a node's Gres= has it.
struct Kind {
    std::string gres;
    std::string type;

    auto operator<=>(const Kind &) const = default;
};

using Kinds = std::map<DeviceId, Kind>;

Kinds kinds_of(const DeviceCatalog &catalog)
{
    Kinds kinds;
    for (const auto &[node, index] : catalog.nodes)
        for (const auto &[gres, slots] : index.slots())
            for (const DeviceSlot &slot : slots)
                if (!slot.absent)
                    kinds[slot.id] = {gres, slot.type};
    return kinds;
}

struct Tally {
    std::size_t fit = 0;
    std::size_t unfit = 0;
};

// What the devices of each kind are to a request.
class Count {
  public:
    Count(const DeviceRequest &request, const DeviceClass &device_class)
        : request_(request), class_(device_class)
    {
    }

    void look_at(const Device &device, const Kind &kind)
    {
        Tally &tally = tallies_[kind];
        auto why = why_unfit(device, request_, class_);
        if (!why && !error_)
            error_ = why.error();
        if (why && why->empty())
            tally.fit++;
        else
            tally.unfit++;
    }

    // The GRES of which most devices fit; "": none does.
    std::string best_gres() const
    {
        std::map<std::string, std::size_t> fits;
        for (const auto &[kind, tally] : tallies_)
            fits[kind.gres] += tally.fit;
        auto best = std::ranges::max_element(
            fits, {}, [](const auto &entry) { return entry.second; });
        return best == fits.end() || best->second == 0 ? "" : best->first;
    }

    // Of one type when the others have no device that fits.
    std::optional<GresWish> wish(const std::string &gres) const
    {
        std::size_t types = 0;
        GresWish made{gres, {}, true};
        bool others = false; // of other types, none of which fits
        for (const auto &[kind, tally] : tallies_) {
            if (kind.gres != gres)
                continue;
            if (tally.fit == 0) {
                others = true;
                continue;
            }
            types++;
            made.type = kind.type;
            made.exact &= tally.unfit == 0;
        }
        if (types == 0)
            return std::nullopt;
        if (types > 1) {
            made.type.clear();
            made.exact &= !others;
        }
        return made;
    }

    const std::optional<Error> &error() const { return error_; }

  private:
    const DeviceRequest &request_;
    const DeviceClass &class_;
    std::map<Kind, Tally> tallies_;
    std::optional<Error> error_; // the first
};

} // namespace

Result<GresWish> gres_for(const DeviceCatalog &catalog,
                          const DeviceRequest &request)
{
    auto found = catalog.classes.find(request.class_name);
    if (found == catalog.classes.end())
        return fail(Code::not_found,
                    "there is no DeviceClass " + request.class_name);
    const DeviceClass &device_class = found->second;
    if (!device_class.objection.empty())
        return fail(Code::rejected, std::format("DeviceClass {}: {}",
                                                device_class.name,
                                                device_class.objection));
    Count count(request, device_class);
    Kinds kinds = kinds_of(catalog);
    for (const DevicePool &pool : catalog.pools)
        for (const DevicePtr &device : pool.devices)
            if (auto kind = kinds.find(device->id());
                pool.usable() && kind != kinds.end())
                count.look_at(*device, kind->second);

    auto own = catalog.gres.find(request.class_name);
    auto wish = count.wish(own == catalog.gres.end() ? count.best_gres()
                                                     : own->second);
    if (wish)
        return *wish;
    if (count.error())
        return std::unexpected(*count.error());
    if (own == catalog.gres.end())
        return fail(Code::not_found,
                    std::format("DeviceClass {} has no GRES in Slurm",
                                request.class_name));
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
    for (const DevicePool &pool : catalog.pools) {
        if (pool.driver != slot->id.driver || pool.name != slot->id.pool ||
            !pool.usable())
            continue;
        auto found = std::ranges::find(pool.devices, slot->id.device,
                                       [](const DevicePtr &one) {
                                           return one->name;
                                       });
        if (found != pool.devices.end())
            return *found;
    }
    return nullptr;
}

} // namespace bridge
