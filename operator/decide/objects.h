// SPDX-License-Identifier: GPL-2.0-or-later
// What the operator reads of the API server, as values. Everything in these
// objects was written by users or by other programs: what is not well formed is
// left empty here, and checked where it is used. Pure.
#pragma once

#include "common/base/json.h"
#include "common/contract/worker_request.h"

#include <chrono>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace bridge::slinky {

using TextMap = std::map<std::string, std::string>;

struct Key {
    std::string ns;
    std::string name;

    auto operator<=>(const Key &) const = default;
};

// What all objects have.
struct Meta {
    Key key;
    std::string uid;
    std::string version;    // resourceVersion
    std::string created;    // as the API server writes it
    std::string controller; // the uid of the owner that is its controller
    std::int64_t generation = 0;
    bool deleting = false;
    TextMap labels;
    TextMap annotations;

    bool operator==(const Meta &) const = default;
};

struct Condition {
    std::string type;
    std::string status;
    std::string reason;
    std::string message;
    std::string since; // lastTransitionTime
    std::int64_t generation = 0;
};

struct Controller {
    Meta meta;
    std::vector<std::string> finalizers;
    bool external = false;
    std::string host; // of slurmctld: that of its Service, if it is ours
    std::int64_t port = 0;
    std::string key_secret; // the Secret with the key of auth/slurm
    std::string key_name;
    std::string cluster_name; // of slurm.conf
    Json spec;
    std::vector<Condition> conditions;
};

struct NodeSet {
    Meta meta;
    std::vector<std::string> finalizers;
    std::string controller; // the name of its Controller
    bool daemon_set = false;
    std::int64_t replicas = 0;
    std::int64_t padding = 0; // digits of the numbers in names
    std::string extra_conf;
    bool share_nodes = false; // oversubscribeNode
    bool protect = true;      // workloadDisruptionProtection
    Json spec;
    Json status;
    std::vector<Condition> conditions;
};

// A slurmd Pod, whoever made it.
struct Worker {
    Meta meta;
    std::string phase;
    std::string node;
    bool ready = false;
    std::string ready_since;         // as the API server writes it
    std::vector<std::string> states; // of the Slurm node: "Idle", "Drain"
    std::optional<WorkerRequest> request;
    bool for_good = false; // with it: none of its name is to come back
    std::optional<DrainAnswer> answer; // only while it is True
};

// The headless Service of a cluster's slurmd Pods.
struct Service {
    Meta meta;
    std::vector<std::string> owners; // their uids
    std::string cluster_ip;
    TextMap selector;
};

// An earlier or the present template of a NodeSet.
struct Revision {
    Meta meta;
    std::int64_t number = 0;
};

// A PodDisruptionBudget, as far as we write it.
struct Budget {
    Meta meta;
    std::vector<std::string> owners;              // their uids
    std::optional<std::int64_t> most_unavailable; // nothing: no such number
    TextMap labels;                               // that it selects
    std::vector<std::string> excepted;            // values of its first NotIn
};

// A claim of a slurmd Pod.
struct Claim {
    Meta meta;
    std::vector<std::string> owners; // their uids
};

// An object that the operator has made for a Controller or an Accounting.
struct Made {
    std::string kind;
    Meta meta;
    std::int64_t ready = 0; // Pods of it that are
    TextMap data;           // of a ConfigMap
    TextMap binary_data;    // in base64
    TextMap images;         // in the template of its Pods, by container
    std::int64_t replicas = 1;
    bool settled = false; // all its Pods have the present template, and are
                          // ready
};

// A ConfigMap of a site, in a namespace in which one is referred to.
struct FileMap {
    Meta meta;
    TextMap texts;    // by file name
    TextMap binaries; // in base64
};

// A Pod with a slurmctld of ours: the one that serves, or one that tries a
// configuration. What is said of its container is of slurmctld's.
struct Daemon {
    Meta meta;
    std::string image;
    std::string phase;
    bool lost = false; // it ended without its containers' doing: evicted, say
    bool ready = false;
    bool ended = false;
    std::string ended_at;   // as the API server writes it
    std::string words;      // its last ones, or why it waits
    std::string configured; // the hash of what it has read, if slurmk8sd says
};

struct Taint {
    std::string key;
    std::string value;
    std::string effect;

    bool operator==(const Taint &) const = default;
};

// A Kubernetes Node, as far as it matters here: what changes all the time is
// left out.
struct KubeNode {
    Meta meta; // without a version; only annotations of ours
    std::vector<Taint> taints;

    bool operator==(const KubeNode &) const = default;
};

// A LoginSet, RestApi, Token or Accounting.
struct Unserved {
    std::string kind;
    Meta meta;
    Json spec;
    std::vector<Condition> conditions;
};

inline constexpr std::int64_t slurmctld_port = 6817;
// The app labels of Daemons, and names of containers.
inline constexpr char slurmctld_app[] = "slurmctld";
inline constexpr char slurmk8sd_app[] = "slurmk8sd"; // a container only
inline constexpr char slurmdbd_app[] = "slurmdbd";
inline constexpr char trial_app[] = "slurmctld-trial";
// The Service of a slurmctld that the operator runs.
std::string controller_service(const std::string &controller);

Controller controller_from(const Json &json);
NodeSet node_set_from(const Json &json);
Worker worker_from(const Json &json);
Service service_from(const Json &json);
Revision revision_from(const Json &json);
Budget budget_from(const Json &json);
Claim claim_from(const Json &json);
KubeNode kube_node_from(const Json &json);
Made made_from(const Json &json);
FileMap file_map_from(const Json &json);
Daemon daemon_from(const Json &json);
Unserved unserved_from(const Json &json);

// All that is known.
struct Known {
    std::map<Key, Controller> controllers;
    std::map<Key, NodeSet> node_sets;
    std::map<Key, Worker> workers;
    std::map<Key, Service> services;
    std::map<Key, Revision> revisions;
    std::map<Key, Budget> budgets;
    std::map<Key, Claim> claims;
    std::map<Key, Daemon> daemons;
    // All ConfigMaps of these namespaces are known.
    std::map<Key, FileMap> file_maps;
    std::set<std::string> file_namespaces;
    std::map<Key, KubeNode> nodes;
    bool nodes_listed = false; // false: it may not list them
    std::map<std::pair<std::string, Key>, Made> made;         // by kind
    std::map<std::pair<std::string, Key>, Unserved> unserved; // by kind
    std::string agent_image; // of slurmk8sd; "" if nobody has said
};

// Returns the condition of this type, or nullptr.
const Condition *find_condition(const std::vector<Condition> &conditions,
                                const std::string &type);

} // namespace bridge::slinky
