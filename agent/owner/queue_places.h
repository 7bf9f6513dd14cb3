// SPDX-License-Identifier: GPL-2.0-or-later
// Which gangs have one of the places that Pods may have in Slurm's queue, and
// which stand in line for one, and why. agent/decide/pending_quota.h has the
// rules. Owner thread only.
#pragma once

#include "agent/decide/pending_quota.h"
#include "agent/gang/store.h"
#include "agent/owner/context.h"

#include <cstddef>
#include <string>
#include <vector>

namespace bridge {

class QueuePlaces {
  public:
    explicit QueuePlaces(const Context &context) : context_(context)
    {
        set_limits();
    }

    // k8s.conf has been read; how many Namespaces share the places.
    void set_limits();
    void set_namespaces(std::size_t count) { quota_.set_namespaces(count); }

    // Counts the gang if its job waits in Slurm; before any gang is decided.
    void count(const GangEntry &entry);
    // Whether the gang may request a job. If so it has a place from now on;
    // else it stands in line, and why is the reason.
    bool may_ask(const GangEntry &entry, std::string &reason);
    // What was decided for the gang (null: there is none any more). wants: it
    // is to request a job, and nothing but its place keeps it from that.
    void decided(const std::string &uid, const GangEntry *entry, bool wants);
    // Returns the gangs in line that may request a job now.
    std::vector<std::string> admit() { return quota_.admit(); }

    bool is_in_line(const std::string &uid) const
    {
        return quota_.is_in_line(uid);
    }
    std::size_t counted() const { return quota_.counted(); }
    std::size_t in_line() const { return quota_.in_line(); }

  private:
    std::string message(PendingQuota::Full full, bool by_wish) const;

    const Context &context_;
    PendingQuota quota_;
};

} // namespace bridge
