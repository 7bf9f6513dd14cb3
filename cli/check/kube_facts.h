// SPDX-License-Identifier: GPL-2.0-or-later
// What slurmk8s check looks at in Kubernetes, as the agent would see it: with
// its token. What the API server does not tell is not there.
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

// A policy of contribs/kubernetes.
struct PolicyFacts {
    std::string name;
    bool there = false;
    bool denies = false; // it has a binding that does so
    std::string text;    // its conditions, to find scheduler names in
};

struct KubeFacts {
    int minor_version = 0; // of 1.x
    std::string username;
    std::vector<std::string> groups;
    std::optional<std::chrono::sys_seconds> server_time;
    std::chrono::sys_seconds our_time{}; // at the same moment
    std::optional<AccessReview> access;
    std::vector<PolicyFacts> policies;
    std::vector<Node> nodes;
    bool nodes_listed = false;
    std::vector<Namespace> namespaces;
};

// The policies that guard something; adoption is an offer, not a guard.
struct PolicyName {
    const char *name;
    Feature feature;       // whose component it comes with
    bool names_schedulers; // those of k8s.conf must be in it
    bool guards_users;     // users could forge without it
};
std::span<const PolicyName> known_policies();

// Asks what it can; each question that had no answer becomes a sentence.
KubeFacts load_kube_facts(Http &http, const Conf &conf, Unchecked &unchecked);

} // namespace bridge
