// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/kube/lease_api.h"

#include "common/base/json.h"

#include <utility>

namespace bridge {

namespace {

std::string leases_path(const std::string &ns)
{
    return "/apis/coordination.k8s.io/v1/namespaces/" + url_encode(ns) +
           "/leases";
}

std::string lease_body(const std::string &ns, const std::string &name,
                       const LeaseRecord &record)
{
    auto metadata = JsonValue::object({{"name", name}, {"namespace", ns}});
    if (!record.version.empty())
        metadata.add("resourceVersion", record.version);
    auto spec = JsonValue::object(
        {{"holderIdentity", record.holder},
         {"leaseDurationSeconds", std::int64_t{record.duration.count()}},
         {"acquireTime", record.acquired},
         {"renewTime", record.renewed},
         {"leaseTransitions", record.transitions}});
    return JsonValue::object({{"apiVersion", "coordination.k8s.io/v1"},
                              {"kind", "Lease"},
                              {"metadata", std::move(metadata)},
                              {"spec", std::move(spec)}})
        .dump();
}

Result<LeaseRecord> record_of(const HttpReply &reply)
{
    auto json = Json::parse(reply.body);
    if (!json)
        return std::unexpected(json.error());
    LeaseRecord record;
    record.version = json->text("metadata/resourceVersion");
    if (record.version.empty())
        return fail(Code::internal, "the answer is not a Lease");
    record.holder = json->text("spec/holderIdentity");
    record.duration =
        std::chrono::seconds(json->integer("spec/leaseDurationSeconds")
                                 .value_or(lease_duration.count()));
    record.renewed = json->text("spec/renewTime");
    record.acquired = json->text("spec/acquireTime");
    record.transitions = json->integer("spec/leaseTransitions").value_or(0);
    return record;
}

} // namespace

LeaseApi::LeaseApi(HttpEndpoint endpoint, std::string ns, std::string name)
    : ns_(std::move(ns)), name_(std::move(name)), http_(std::move(endpoint))
{
}

Result<LeaseRecord> LeaseApi::read()
{
    auto reply = http_.get(leases_path(ns_) + "/" + url_encode(name_));
    if (!reply)
        return std::unexpected(reply.error());
    if (reply->status == 404)
        return LeaseRecord{};
    if (auto said = check_status(*reply); !said)
        return std::unexpected(said.error());
    return record_of(*reply);
}

Result<LeaseRecord> LeaseApi::write(const LeaseRecord &record)
{
    std::string body = lease_body(ns_, name_, record);
    std::string path = leases_path(ns_);
    auto reply = record.version.empty()
                     ? http_.post(path, body)
                     : http_.put(path + "/" + url_encode(name_), body);
    if (!reply)
        return std::unexpected(reply.error());
    if (auto said = check_status(*reply); !said)
        return std::unexpected(said.error());
    return record_of(*reply);
}

} // namespace bridge
