// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/check/kube_facts.h"

#include "agent/objects/foreign_pods.h"
#include "common/base/json.h"
#include "common/kube/text.h"

#include <charconv>
#include <chrono>

namespace bridge {

namespace {

constexpr char admission[] = "/apis/admissionregistration.k8s.io/";

constexpr char forced[] =
    "users can delete running Pods by force: Slurm gives away what their "
    "containers still use";
constexpr char relabelled[] =
    "whoever has a kubelet's credentials decides the name and the partitions "
    "of its node in Slurm";
constexpr char registered[] =
    "a kubelet that registers its Node decides the name and the partitions of "
    "its node in Slurm";
constexpr char unqueued[] =
    "users can run Pods on Slurm's nodes outside of its queue";

constexpr PolicyName policies[] = {
    {"slurm-k8s-bridge-owned-metadata", Feature::base, false, true},
    {"slurm-k8s-bridge-node-name", Feature::base, true, true},
    {"slurm-k8s-bridge-supported-specs", Feature::base, true, false},
    {"slurm-k8s-bridge-agent", Feature::base, true, false},
    {"slurm-k8s-bridge-agent-binding", Feature::base, false, false},
    {"slurm-k8s-bridge-agent-eviction", Feature::base, false, false},
    {"slurm-k8s-bridge-agent-token", Feature::token_renewal, false, false},
    {"slurm-k8s-bridge-agent-nodes", Feature::nodes_patch, false, false},
    {"slurm-k8s-bridge-node-marks", Feature::nodes_patch, false, true},
    {"slurm-k8s-bridge-agent-claims", Feature::volumes, false, false},
    {"slurm-k8s-bridge-agent-volumes", Feature::volumes, false, false},
    {"slurm-k8s-bridge-agent-resourceclaims", Feature::devices, false, false},
    {"slurm-k8s-bridge-agent-batch-pods", Feature::sbatch, true, false},
    {"slurm-k8s-bridge-agent-batch-services", Feature::sbatch_srun, false,
     false},
    {"slurm-k8s-bridge-agent-batch-configmaps", Feature::sbatch_srun, false,
     false},
    {"slurm-k8s-bridge-batch-pods", Feature::sbatch, false, true},
    {"slurm-k8s-bridge-batch-srun", Feature::sbatch_srun, false, true},
    {"slurm-k8s-bridge-force-delete", Feature::base, false, true, nullptr,
     forced},
    {"slurm-k8s-bridge-force-evict", Feature::base, false, true, nullptr,
     forced},
    {"slurm-k8s-bridge-node-labels", Feature::base, false, true, nullptr,
     relabelled},
    {"slurm-k8s-bridge-strict-nodes", Feature::base, true, false,
     "strict-nodes", unqueued},
    {"slurm-k8s-bridge-strict-daemonsets", Feature::base, false, false,
     "strict-nodes", unqueued},
    {"slurm-k8s-bridge-node-registration", Feature::base, false, false,
     "node-labels", registered, true},
};

Result<Json> answer_of(const Result<HttpReply> &reply)
{
    if (!reply)
        return std::unexpected(reply.error());
    if (auto said = check_status(*reply); !said)
        return std::unexpected(said.error());
    return Json::parse(reply->body);
}

class Collector {
  public:
    Collector(Http &http, Unchecked &unchecked)
        : http_(http), unchecked_(unchecked)
    {
    }

    // Returns false when the API server does not answer; then nothing else need
    // be asked.
    bool ask_version(KubeFacts &facts)
    {
        auto reply = http_.get("/version");
        auto said = answer_of(reply);
        record_reach(facts, reply, said);
        if (!said)
            return add_unchecked("Kubernetes", said.error()), false;
        std::string minor = said->text("minor");
        std::from_chars(minor.data(), minor.data() + minor.size(),
                        facts.minor_version);
        return true;
    }

    bool ask_identity(KubeFacts &facts)
    {
        auto who_are_we =
            JsonValue::object({{"apiVersion", "authentication.k8s.io/v1"},
                               {"kind", "SelfSubjectReview"}});
        auto reply =
            http_.post("/apis/authentication.k8s.io/v1/selfsubjectreviews",
                       who_are_we.dump());
        auto said = answer_of(reply);
        record_reach(facts, reply, said);
        facts.our_time = std::chrono::floor<std::chrono::seconds>(
            std::chrono::system_clock::now());
        if (!said)
            return add_unchecked("who we are in Kubernetes", said.error()),
                   false;
        facts.username = said->text("status/userInfo/username");
        for (const Json &group : said->items("status/userInfo/groups"))
            facts.groups.push_back(group.text());
        facts.server_time =
            parse_time(said->text("metadata/creationTimestamp"));
        return true;
    }

    void ask_rights(KubeFacts &facts, const Conf &conf)
    {
        auto review = review_access(http_, conf);
        if (review)
            facts.access = std::move(*review);
        else
            add_unchecked("the agent's rights", review.error());
    }

    void ask_policies(KubeFacts &facts)
    {
        for (const PolicyName &policy : policies)
            if (!ask_policy(policy, facts))
                return;
    }

    template <class Add>
    bool list(const std::string &kind, Add add,
              const std::string &selector = {})
    {
        std::string next;
        std::string query = "?limit=500";
        if (!selector.empty())
            query += "&fieldSelector=" + url_encode(selector);
        do {
            auto said = answer_of(http_.get(
                "/api/v1/" + kind + query +
                (next.empty() ? "" : "&continue=" + url_encode(next))));
            if (!said)
                return add_unchecked(kind, said.error()), false;
            for (const Json &object : said->items("items"))
                add(object);
            next = said->text("metadata/continue");
        } while (!next.empty());
        return true;
    }

  private:
    // The token has been read before.
    static void record_reach(KubeFacts &facts, const Result<HttpReply> &reply,
                             const Result<Json> &said)
    {
        using Reach = KubeFacts::Reach;
        facts.reach_reason = said ? std::string() : said.error().message;
        if (said)
            facts.reach = Reach::answered;
        else if (!reply)
            facts.reach = reply.error().code == Code::denied ? Reach::untrusted
                                                             : Reach::no_answer;
        else if (reply->status == 401)
            facts.reach = Reach::refused;
        else // every API server has these paths
            facts.reach =
                reply->status == 404 ? Reach::no_answer : Reach::not_asked;
    }

    // Fails if the answer is another one than the object or that it is not
    // there.
    Result<std::optional<Json>> find(const std::string &version,
                                     const std::string &kind,
                                     const std::string &name)
    {
        auto said = answer_of(http_.get(std::string(admission).append(version) +
                                        "/" + kind + "/" + name));
        if (said)
            return std::move(*said);
        if (said.error().code == Code::not_found)
            return std::nullopt;
        return std::unexpected(said.error());
    }

    bool ask_policy(const PolicyName &known, KubeFacts &facts)
    {
        PolicyFacts policy{known.name, false, false, {}};
        auto asked = known.mutates ? ask_mutating(known.name, policy)
                                   : ask_validating(known.name, policy);
        if (!asked)
            return add_unchecked("the policies", asked.error()), false;
        facts.policies.push_back(std::move(policy));
        return true;
    }

    Result<> ask_validating(const std::string &name, PolicyFacts &policy)
    {
        auto found = find("v1", "validatingadmissionpolicies", name);
        if (!found)
            return std::unexpected(found.error());
        policy.there = found->has_value();
        if (policy.there)
            policy.text = (*found)->at("spec").dump();
        auto binding = find("v1", "validatingadmissionpolicybindings", name);
        if (!binding)
            return std::unexpected(binding.error());
        if (*binding)
            for (const Json &action :
                 (*binding)->items("spec/validationActions"))
                policy.denies = policy.denies || action.text() == "Deny";
        return {};
    }

    // Kubernetes 1.35 serves the kind as v1beta1, if at all.
    Result<> ask_mutating(const std::string &name, PolicyFacts &policy)
    {
        for (const char *version : {"v1", "v1beta1"}) {
            auto found = find(version, "mutatingadmissionpolicies", name);
            if (!found)
                return std::unexpected(found.error());
            if (!*found)
                continue;
            policy.there = true;
            policy.text = (*found)->at("spec").dump();
            auto binding =
                find(version, "mutatingadmissionpolicybindings", name);
            if (!binding)
                return std::unexpected(binding.error());
            policy.denies = binding->has_value();
            break;
        }
        return {};
    }

    void add_unchecked(const std::string &what, const Error &error)
    {
        unchecked_.push_back(what + ": " + error.message);
    }

    Http &http_;
    Unchecked &unchecked_;
};

} // namespace

std::span<const PolicyName> known_policies()
{
    return policies;
}

KubeFacts load_kube_facts(Http &http, const Conf &conf, Unchecked &unchecked)
{
    KubeFacts facts;
    Collector collector(http, unchecked);
    if (!collector.ask_version(facts) || !collector.ask_identity(facts))
        return facts;
    collector.ask_rights(facts, conf);
    collector.ask_policies(facts);
    facts.nodes_listed = collector.list("nodes", [&](const Json &object) {
        facts.nodes.push_back(node_from(object));
    });
    collector.list("namespaces", [&](const Json &object) {
        facts.namespaces.push_back(namespace_from(object));
    });
    collector.list(
        "pods",
        [&](const Json &object) {
            ForeignPod pod = foreign_pod_from(object);
            judge_worker(pod, conf.worker_namespaces);
            if (pod.outside_queue)
                facts.outside_pods.push_back({object.text("metadata/namespace"),
                                              object.text("metadata/name"),
                                              object.text("spec/nodeName")});
        },
        foreign_selector(conf.scheduler_names));
    return facts;
}

} // namespace bridge
