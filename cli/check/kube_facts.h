// SPDX-License-Identifier: GPL-2.0-or-later
// What slurmk8s check needs to know about Kubernetes. It uses the agent's
// token, and so sees what the agent would see. What the API server does not
// tell is missing.
#pragma once

#include "agent/calls/access.h"
#include "agent/objects/objects.h"
#include "cli/check/finding.h"
#include "common/contract/conf.h"
#include "common/kube/http.h"

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bridge {

// An admission policy of contribs/kubernetes.
struct PolicyFacts {
    std::string name;
    bool there = false;
    bool denies = false; // a binding makes it deny, or change, requests
    std::string text;    // its spec, to find scheduler names in
};

// A Pod on a Node that no job stands for.
struct OutsidePod {
    std::string ns;
    std::string name;
    std::string node;
};

struct KubeFacts {
    // How far a request of ours gets.
    enum class Reach {
        answered,
        not_asked, // we may not read the token, or the server is in trouble
        no_server, // no address is configured
        example,   // the address is nobody's
        no_answer, // nothing listens there, or it does not speak TLS
        untrusted, // its certificate is not signed by KubeCaFile
        no_token,  // the file has no token
        refused,   // the token is not a valid one
    };
    Reach reach = Reach::not_asked;
    std::string reach_reason; // unless there is an answer
    int minor_version = 0;    // of version 1.x
    std::string username;
    std::vector<std::string> groups;
    std::optional<std::chrono::sys_seconds> server_time;
    std::chrono::sys_seconds our_time{}; // at the same moment
    std::optional<AccessReview> access;
    std::vector<PolicyFacts> policies;
    std::vector<Node> nodes;
    bool nodes_listed = false;
    std::vector<Namespace> namespaces;
    // Of other schedulers, on any Node, owned by no DaemonSet.
    std::vector<OutsidePod> outside_pods;
};

// The policies that protect something. The policy for adoption is not among
// them.
struct PolicyName {
    const char *name;
    Feature feature;       // not missed while this is off
    bool names_schedulers; // it must name those of k8s.conf
    bool guards_users;     // an error if it is missing
    // The component that installs it, if that is another one than the
    // feature's; and what is possible without it, if that is not to forge data
    // that the agent trusts.
    const char *component = nullptr;
    const char *without = nullptr;
    bool mutates = false; // a MutatingAdmissionPolicy, which denies nothing
};
std::span<const PolicyName> known_policies();

// Asks all questions that it can. Each question without an answer adds a
// message to unchecked.
KubeFacts load_kube_facts(Http &http, const Conf &conf, Unchecked &unchecked);

} // namespace bridge
