// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/act/claims.h"

#include "agent/act/extended.h"
#include "agent/claims/allocation.h"
#include "agent/decide/messages.h"
#include "common/base/json.h"

#include <algorithm>
#include <chrono>
#include <format>
#include <functional>
#include <utility>

namespace bridge {

namespace {

constexpr int tries = 12; // while others write to the claim, too

std::unexpected<Error> odd(const ObjectKey &key, const std::string &reason)
{
    return fail(Code::conflict,
                std::format("the ResourceClaim {} {}", key.name, reason));
}

// Whether another write came in between, or the outcome of ours is unknown:
// reading the claim again tells.
bool read_again(const Result<> &said)
{
    return said.error().code == Code::conflict ||
           said.error().code == Code::uncertain;
}

// Repeats a step at once when another writer has interfered, and gives up after
// some tries: the owner thread then waits before the next attempt. A step gets
// the claim as it was read, and either reports what is wrong or writes.
class Writer {
  public:
    // text: the claim as last known, or empty. If the claim has changed since,
    // its resourceVersion makes the write fail and the claim is read.
    Writer(ObjectKey key, Kube &kube, std::string text = {})
        : key_(std::move(key)), kube_(kube), text_(std::move(text))
    {
    }

    // A conflict that step() itself reports is final.
    Result<> run(const std::function<Result<>(Writer &)> &step)
    {
        for (int attempt = 0; attempt < tries; attempt++) {
            auto read = begin();
            if (!read)
                return fail(certain(read.error()),
                            "read ResourceClaim=" + key_.str());
            now_ = std::move(*read);
            wrote_ = {};
            auto said = step(*this);
            if (said || wrote_)
                return said;
            if (!read_again(wrote_))
                return said;
        }
        return fail(Code::busy, "ResourceClaim=" + key_.str() +
                                    " is changed by others all the time");
    }

    const ResourceClaim &claim() const { return now_.claim; }
    const std::string &text() const { return now_.text; }

    Result<> write(const std::string &body)
    {
        return take(kube_.write_claim(key_, body), "write ResourceClaim=");
    }
    Result<> write_status(const std::string &body)
    {
        return take(kube_.write_claim_status(key_, body),
                    "write the status of ResourceClaim=");
    }

  private:
    Result<ClaimText> begin()
    {
        std::string text = std::exchange(text_, {});
        auto json = Json::parse(text);
        if (!json)
            return kube_.read_claim(key_);
        ResourceClaim claim = resource_claim_from(*json, text);
        return ClaimText{std::move(claim), std::move(text)};
    }

    // Turns an unknown outcome into Code::busy, so that the action is repeated:
    // the next attempt reads the claim and learns what became of this one.
    static Error certain(Error error)
    {
        if (error.code == Code::uncertain)
            error.code = Code::busy;
        return error;
    }

    Result<> take(Result<ClaimText> written, const char *doing)
    {
        if (!written) {
            wrote_ = std::unexpected(written.error());
            return fail(certain(written.error()), doing + key_.str());
        }
        now_ = std::move(*written);
        return {};
    }

    ObjectKey key_;
    Kube &kube_;
    std::string text_;
    ClaimText now_;
    Result<> wrote_; // result of the last write
};

bool same_devices(std::vector<DeviceId> one, std::vector<DeviceId> other)
{
    std::ranges::sort(one);
    std::ranges::sort(other);
    return one == other;
}

// Returns the chosen devices except those of adminAccess requests, like
// ResourceClaim::devices.
std::vector<DeviceId> counted_devices(const ResourceClaim &claim,
                                      const ClaimPlan &plan)
{
    std::vector<DeviceId> made;
    for (const ChosenDevice &one : plan.chosen) {
        const DeviceRequest *request = find_request(claim, one.request);
        if (!request || !request->admin_access)
            made.push_back(one.device->id());
    }
    return made;
}

// Returns how the claim differs from the plan, or "" if it does not.
std::string changed_claim_reason(const ResourceClaim &claim,
                                 const ClaimPlan &plan, bool reserved)
{
    if (claim.uid != plan.uid)
        return "was recreated";
    if (claim.deleting)
        return "is being deleted";
    if (plan.allocated)
        return !claim.allocated ? "has no devices any more"
               : same_devices(claim.devices, plan.has)
                   ? ""
                   : "has other devices now";
    if (!claim.allocated)
        return {};
    if (reserved && same_devices(claim.devices, counted_devices(claim, plan)))
        return {}; // by ourselves, in an earlier attempt
    return "got its devices from somebody else";
}

Result<> reserve_one(Writer &writer, const Pod &pod, const ClaimPlan &plan,
                     const std::string &node)
{
    bool reserved = writer.claim().is_reserved_for(pod.uid);
    if (std::string reason =
            changed_claim_reason(writer.claim(), plan, reserved);
        !reason.empty())
        return odd(plan.key, reason);
    if (reserved)
        return {};
    std::string allocation;
    if (!writer.claim().allocated) {
        if (std::string body = protected_claim(writer.text()); !body.empty())
            if (auto said = writer.write(body); !said)
                return said;
        // The answer may be newer than what was read.
        if (writer.claim().allocated)
            return odd(plan.key, "got its devices from somebody else");
        allocation = allocation_text(writer.claim(), plan.classes, plan.chosen,
                                     node, std::chrono::system_clock::now());
    }
    std::string body = reserved_claim(writer.text(), allocation, pod);
    if (body.empty())
        return odd(plan.key, "has too many consumers");
    return writer.write_status(body);
}

Result<> free_one(Writer &writer, const Pod &pod)
{
    if (std::string body = released_claim(writer.text(), pod.uid);
        !body.empty())
        if (auto said = writer.write_status(body); !said)
            return said;
    const ResourceClaim &claim = writer.claim();
    if (claim.allocated || !claim.reserved_for.empty())
        return {};
    std::string body = unprotected_claim(writer.text());
    return body.empty() ? Result<>{} : writer.write(body);
}

Result<> release_one(const Pod &pod, const ClaimHold &hold, Kube &kube)
{
    bool another = false;
    auto said = Writer(hold.key, kube).run([&](Writer &writer) {
        another = writer.claim().uid != hold.uid;
        return another ? Result<>{} : free_one(writer, pod);
    });
    return said && hold.remove && !another
               ? kube.delete_claim(hold.key, hold.uid)
               : said;
}

} // namespace

Result<> reserve_claims(const Pod &pod, const std::vector<ClaimPlan> &claims,
                        const std::string &node, Kube &kube)
{
    for (const ClaimPlan &planned : claims) {
        auto plan = with_claim_made(planned, pod, kube);
        if (!plan)
            return std::unexpected(plan.error());
        auto said =
            Writer(plan->key, kube, plan->text).run([&](Writer &writer) {
                return reserve_one(writer, pod, *plan, node);
            });
        if (!said)
            return said;
    }
    return {};
}

Result<Outcome> prepare_claims(const Pod &pod,
                               const std::vector<ClaimPlan> &claims,
                               const std::string &node, Kube &kube)
{
    auto reserved = reserve_claims(pod, claims, node, kube);
    auto told = reserved ? write_extended_status(pod, claims, kube)
                         : std::unexpected(reserved.error());
    if (!told && told.error().code == Code::rejected)
        return ClaimsRefused{told.error().message, node};
    if (!told)
        return std::unexpected(told.error());
    if (!*told)
        return ClaimsRefused{no_extended_gate_message(), node, true};
    return Done{};
}

Result<> check_unbound(const Pod &pod, Kube &kube)
{
    auto now = kube.get_pod(pod.key);
    if (!now && now.error().code != Code::not_found)
        return std::unexpected(now.error());
    if (now && now->uid == pod.uid && now->bound())
        return fail(Code::conflict, "the Pod has been bound");
    return {};
}

Result<> release_claims(const Pod &pod, const std::vector<ClaimHold> &claims,
                        Kube &kube)
{
    for (const ClaimHold &hold : claims) {
        auto said = release_one(pod, hold, kube);
        if (!said && said.error().code != Code::not_found)
            return said;
    }
    return {};
}

} // namespace bridge
