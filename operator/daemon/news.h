// SPDX-License-Identifier: GPL-2.0-or-later
// What the watches tell the owner thread, and what it then knows.
#pragma once

#include "operator/daemon/work.h"

#include <set>
#include <string>
#include <variant>
#include <vector>

namespace bridge::slinky {

// The complete list of one watch: it replaces all that this watch had told.
// ns is its namespace, "" for all of them.
template <class Object> struct Listed {
    std::string watch; // "nodesets in test"
    std::string kind;  // of Made and Unserved; otherwise ""
    std::string ns;
    std::vector<Object> objects;
};

template <class Object> struct Changed {
    Object object;
    bool deleted = false;
};

// A watch fails, or works again: error is "" then.
struct WatchSays {
    std::string watch;
    std::string error;
};

struct Stop {};

using News = std::variant<
    Listed<Controller>, Listed<NodeSet>, Listed<Worker>, Listed<Service>,
    Listed<Revision>, Listed<Budget>, Listed<Claim>, Listed<KubeNode>,
    Listed<Made>, Listed<Unserved>, Listed<Daemon>, Listed<FileMap>,
    Changed<Controller>, Changed<NodeSet>, Changed<Worker>, Changed<Service>,
    Changed<Revision>, Changed<Budget>, Changed<Claim>, Changed<KubeNode>,
    Changed<Made>, Changed<Unserved>, Changed<Daemon>, Changed<FileMap>,
    WatchSays, Acted, Stop>;

// Used by one thread.
struct Store {
    Known known;
    // Watches that have listed. That of Nodes is not among them: an operator of
    // some namespaces may have no right to it.
    std::set<std::string> complete;
    std::map<std::string, std::string> failing; // watches, and why

    // False if nothing has changed by it.
    bool hear(News news);
};

} // namespace bridge::slinky
