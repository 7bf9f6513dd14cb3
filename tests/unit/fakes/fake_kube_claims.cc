// SPDX-License-Identifier: GPL-2.0-or-later
// FakeKube's ResourceClaims, and its answers to calls for them.
#include "tests/unit/fakes/fake_kube.h"

#include "common/base/json_text.h"

namespace bridge {

void FakeKube::put_claim(const std::string &text)
{
    auto json = Json::parse(text);
    ObjectKey key{json->text("metadata/namespace"),
                  json->text("metadata/name")};
    {
        std::lock_guard lock(mutex_);
        std::string metadata =
            json_with(*json_text(text, "metadata"), "resourceVersion",
                      JsonValue(std::to_string(++version_)).dump());
        claims_[key] = json_with(text, "metadata", metadata);
    }
    tell_claim(key);
}

void FakeKube::erase_claim(const ObjectKey &key)
{
    ResourceClaim last =
        resource_claim_from(*Json::parse(claim(key)), claim(key));
    {
        std::lock_guard lock(mutex_);
        claims_.erase(key);
    }
    if (on_claim)
        on_claim(last, true);
}

std::string FakeKube::claim(const ObjectKey &key) const
{
    std::lock_guard lock(mutex_);
    auto found = claims_.find(key);
    return found == claims_.end() ? "" : found->second;
}

std::vector<ResourceClaim> FakeKube::claims() const
{
    std::lock_guard lock(mutex_);
    std::vector<ResourceClaim> all;
    for (const auto &[key, text] : claims_)
        all.push_back(resource_claim_from(*Json::parse(text), text));
    return all;
}

void FakeKube::tell_claim(const ObjectKey &key) const
{
    std::string text = claim(key);
    if (on_claim)
        on_claim(watched_claim(*Json::parse(text)), false);
}

Result<ClaimText> FakeKube::read_claim(const ObjectKey &key)
{
    auto [mishap, error] = next_mishap({"read_claim", key, ""});
    if (mishap == Mishap::refuse)
        return std::unexpected(error);
    std::string text = claim(key);
    if (text.empty())
        return fail(Code::not_found, "HTTP 404");
    return ClaimText{resource_claim_from(*Json::parse(text), text), text};
}

Result<ClaimText> FakeKube::write_claim(const ObjectKey &key,
                                        const std::string &body)
{
    return put_part("write_claim", key, body, false);
}

Result<ClaimText> FakeKube::write_claim_status(const ObjectKey &key,
                                               const std::string &body)
{
    return put_part("write_claim_status", key, body, true);
}

// As the API server: a write to the status changes nothing else, and the other
// way round; an allocation is not changed into another.
Result<ClaimText> FakeKube::put_part(const char *what, const ObjectKey &key,
                                     const std::string &body, bool status)
{
    if (before_claim_write)
        before_claim_write(key);
    auto [mishap, error] = next_mishap({what, key, ""});
    if (mishap == Mishap::refuse)
        return std::unexpected(error);
    std::string old = claim(key);
    auto json = Json::parse(body);
    if (old.empty() || !json)
        return fail(old.empty() ? Code::not_found : Code::rejected, what);
    std::string version = "metadata/resourceVersion";
    if (json->text(version) != Json::parse(old)->text(version))
        return fail(Code::conflict, "HTTP 409");
    auto part = json_text(status ? body : old, "status");
    std::string made = status ? old : body;
    if (part)
        made = json_with(made, "status", *part);
    auto was = json_text(old, "status/allocation");
    auto is = json_text(made, "status/allocation");
    if (was && is && *was != *is)
        return fail(Code::rejected, "HTTP 422: field is immutable");
    if (status && is) // it remembers who wrote that
        made = json_with(
            made, "metadata",
            json_with(*json_text(made, "metadata"), "managedFields",
                      R"([{"manager":"slurmk8sd","subresource":"status",)"
                      R"("fieldsV1":{"f:status":{"f:allocation":{}}}}])"));
    put_claim(made);
    if (mishap == Mishap::lose)
        return std::unexpected(error);
    return ClaimText{resource_claim_from(*Json::parse(claim(key)), claim(key)),
                     claim(key)};
}

Result<ClaimText> FakeKube::create_claim(const std::string &ns,
                                         const std::string &body)
{
    auto json = Json::parse(body);
    ObjectKey key{ns, json ? json->text("metadata/name") : ""};
    auto [mishap, error] = next_mishap({"create_claim", key, ""});
    if (mishap == Mishap::refuse)
        return std::unexpected(error);
    if (key.name.empty() || json->text("metadata/namespace") != ns)
        return fail(Code::rejected, "HTTP 400");
    if (!claim(key).empty())
        return fail(Code::conflict, "HTTP 409: already exists");
    put_claim(json_with(
        body, "metadata",
        json_with(*json_text(body, "metadata"), "uid",
                  JsonValue("uid-of-claim-" + std::to_string(++claim_uids_))
                      .dump())));
    if (mishap == Mishap::lose)
        return std::unexpected(error);
    return ClaimText{resource_claim_from(*Json::parse(claim(key)), claim(key)),
                     claim(key)};
}

// One with a finalizer stays until that is taken off, which is not played here.
Result<> FakeKube::delete_claim(const ObjectKey &key, const std::string &uid)
{
    auto [mishap, error] = next_mishap({"delete_claim", key, ""});
    if (mishap == Mishap::refuse)
        return std::unexpected(error);
    std::string text = claim(key);
    if (!text.empty()) {
        ResourceClaim there = resource_claim_from(*Json::parse(text), text);
        if (there.uid == uid && there.has_finalizer)
            put_claim(json_with(text, "metadata",
                                json_with(*json_text(text, "metadata"),
                                          "deletionTimestamp",
                                          R"("2026-11-22T08:00:00Z")")));
        else if (there.uid == uid)
            erase_claim(key);
    }
    if (mishap == Mishap::lose)
        return std::unexpected(error);
    return {};
}

Result<bool> FakeKube::set_extended_claim(const Pod &pod,
                                          const ExtendedClaimStatus &status)
{
    std::string detail = status.claim;
    for (const RequestMapping &one : status.mappings)
        detail += " " + one.container + ":" + one.resource + "=" + one.request;
    auto said = act({"set_extended_claim", pod.key, detail}, pod,
                    [&](Pod &there) -> Result<> {
                        if (keeps_extended)
                            there.extended_claim = status.claim;
                        return {};
                    });
    if (!said)
        return std::unexpected(said.error());
    return keeps_extended;
}

} // namespace bridge
