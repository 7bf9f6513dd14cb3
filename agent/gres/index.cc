// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gres/index.h"

#include "common/base/text.h"
#include "common/contract/gres_words.h"

#include <algorithm>
#include <format>

namespace bridge {

namespace {

constexpr std::string_view version = "k8sdev:1";
constexpr std::size_t max_pool = 253;

bool is_device(const DeviceId &id)
{
    return is_gres_word(id.driver, "-.") &&
           is_gres_word(id.pool, "-./", max_pool) &&
           is_gres_word(id.device, "-") && !id.device.starts_with('-');
}

bool can_be_said(const GresDevice &device)
{
    return is_gres_word(device.gres, "-_.") && is_gres_type(device.type) &&
           is_device(device.id);
}

std::unexpected<Error> bad(std::string_view what)
{
    return fail(
        Code::rejected,
        std::format("cannot read the devices in the node's extra: {}", what));
}

// Reads "TYPE@DRIVER/POOL:NAME:-NAME:-".
Result<> read_run(std::string_view run, std::vector<DeviceSlot> &slots)
{
    std::string_view head = next_part(run, ':');
    DeviceSlot slot;
    slot.type = next_part(head, '@');
    DeviceId id;
    id.driver = next_part(head, '/');
    id.pool = head;
    if (!is_gres_type(slot.type) || run.empty())
        return bad("not TYPE@DRIVER/POOL:NAMES");
    do {
        std::string_view name = next_part(run, ':');
        slot.absent = name.starts_with('-');
        slot.id = id;
        slot.id.device = name.substr(slot.absent);
        if (slot.absent && slot.id.device.empty())
            slot.id = {};
        else if (!is_device(slot.id))
            return bad("an invalid device name");
        if (slots.size() >= DeviceIndex::max_slots)
            return bad("too many devices of one GRES");
        slots.push_back(slot);
    } while (!run.empty());
    return {};
}

void add_slot(std::string &text, const DeviceSlot &slot,
              const DeviceSlot *before)
{
    bool empty = slot.id.device.empty();
    bool same = before && before->type == slot.type &&
                (empty || (before->id.driver == slot.id.driver &&
                           before->id.pool == slot.id.pool));
    if (!same)
        text +=
            std::format("!{}@{}/{}", slot.type, slot.id.driver, slot.id.pool);
    text += ':';
    text += slot.absent ? "-" : "";
    text += slot.id.device;
}

// Returns the most bytes that a slot can take: as if it had a run and a GRES of
// its own.
std::size_t most_bytes(const DeviceSlot &slot)
{
    return slot.type.size() + slot.id.str().size() + max_gres_word + 6;
}

bool is_known_gone(const DeviceSlot &slot, const DevicesNow &now)
{
    return slot.absent &&
           (slot.id.device.empty() ||
            now.known_pools.contains({slot.id.driver, slot.id.pool}));
}

// One call of update().
class Update {
  public:
    Update(std::map<std::string, std::vector<DeviceSlot>> &slots,
           const DevicesNow &now, const std::set<GresIndex> &used)
        : slots_(slots), now_(now), used_(used)
    {
        for (const GresDevice &device : now.present)
            if (can_be_said(device))
                present_.emplace(device.id, &device);
        for (const auto &[gres, of_gres] : slots)
            for (const DeviceSlot &slot : of_gres)
                bytes_ += most_bytes(slot);
    }

    void run()
    {
        for (auto &[gres, slots] : slots_)
            for (std::uint32_t i = 0; i < slots.size(); i++)
                update_slot(slots[i], {gres, i});
        for (const GresDevice &device : now_.present)
            if (can_be_said(device) && placed_.insert(device.id).second)
                place(device);
    }

  private:
    void update_slot(DeviceSlot &slot, const GresIndex &where)
    {
        auto found = present_.find(slot.id);
        slot.absent = found == present_.end();
        if (slot.absent)
            return;
        const GresDevice &device = *found->second;
        bool same = device.gres == where.gres && device.type == slot.type;
        if (same || used_.contains(where))
            placed_.insert(slot.id);
        else
            slot = {slot.type, {}, true}; // it is another sort of device now
    }

    void place(const GresDevice &device)
    {
        auto &slots = slots_[device.gres];
        for (std::uint32_t i = 0; i < slots.size(); i++)
            if (slots[i].type == device.type && is_known_gone(slots[i], now_) &&
                !used_.contains({device.gres, i}) &&
                has_room({device.type, device.id, false})) {
                slots[i] = {device.type, device.id, false};
                return;
            }
        DeviceSlot slot{device.type, device.id, false};
        if (slots.size() < DeviceIndex::max_slots && has_room(slot))
            slots.push_back(slot);
    }

    // Returns false if the text would become too long to be parsed again.
    bool has_room(const DeviceSlot &slot)
    {
        if (bytes_ + most_bytes(slot) > DeviceIndex::max_text)
            return false;
        bytes_ += most_bytes(slot);
        return true;
    }

    std::map<std::string, std::vector<DeviceSlot>> &slots_;
    const DevicesNow &now_;
    const std::set<GresIndex> &used_;
    std::map<DeviceId, const GresDevice *> present_;
    std::set<DeviceId> placed_;
    std::size_t bytes_ = version.size();
};

} // namespace

Result<DeviceIndex> DeviceIndex::parse(std::string_view text)
{
    DeviceIndex index;
    if (text.empty())
        return index;
    if (text.size() > max_text)
        return bad("too long");
    if (next_part(text, '|') != version)
        return bad("of another version, or not ours");
    std::set<DeviceId> seen;
    while (!text.empty()) {
        std::string_view part = next_part(text, '|');
        std::string gres(next_part(part, '!'));
        if (!is_gres_word(gres, "-_.") || index.slots_.contains(gres) ||
            part.empty())
            return bad("a GRES without name or devices, or twice");
        auto &slots = index.slots_[gres];
        while (!part.empty())
            if (auto read = read_run(next_part(part, '!'), slots); !read)
                return std::unexpected(read.error());
        for (const DeviceSlot &slot : slots)
            if (!slot.id.device.empty() && !seen.insert(slot.id).second)
                return bad("a device at two indexes");
    }
    return index;
}

std::string DeviceIndex::text() const
{
    std::string text;
    for (const auto &[gres, slots] : slots_) {
        if (slots.empty())
            continue;
        text += "|" + gres;
        const DeviceSlot *before = nullptr; // the last that said its pool
        for (const DeviceSlot &slot : slots) {
            add_slot(text, slot, before);
            bool says_pool =
                !slot.id.device.empty() || !before || before->type != slot.type;
            before = says_pool ? &slot : before;
        }
    }
    return text.empty() ? text : std::string(version) + text;
}

bool DeviceIndex::update(const DevicesNow &now, const std::set<GresIndex> &used)
{
    auto before = slots_;
    Update(slots_, now, used).run();
    return slots_ != before;
}

void DeviceIndex::compact(const DevicesNow &now)
{
    for (auto &[gres, slots] : slots_)
        std::erase_if(slots, [&](const DeviceSlot &slot) {
            return is_known_gone(slot, now);
        });
    std::erase_if(slots_,
                  [](const auto &entry) { return entry.second.empty(); });
}

const DeviceSlot *DeviceIndex::at(const GresIndex &where) const
{
    auto found = slots_.find(where.gres);
    if (found == slots_.end() || where.index >= found->second.size())
        return nullptr;
    return &found->second[where.index];
}

std::optional<GresIndex> DeviceIndex::find(const DeviceId &id) const
{
    for (const auto &[gres, slots] : slots_)
        for (std::uint32_t i = 0; i < slots.size(); i++)
            if (!id.device.empty() && slots[i].id == id)
                return GresIndex{gres, i};
    return std::nullopt;
}

std::vector<GresCount> DeviceIndex::counts() const
{
    std::vector<GresCount> counts;
    for (const auto &[gres, slots] : slots_)
        for (const DeviceSlot &slot : slots) {
            auto same = std::ranges::find_if(counts, [&](const GresCount &one) {
                return one.gres == gres && one.type == slot.type;
            });
            if (same == counts.end())
                counts.push_back({gres, slot.type, 1});
            else
                same->count++;
        }
    return counts;
}

} // namespace bridge
