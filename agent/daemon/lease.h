// SPDX-License-Identifier: GPL-2.0-or-later
// The Lease (coordination.k8s.io) that says which agent acts, and the rules by
// which it changes hands. Pure functions, except for this_holder().
//
//   holder in the record       we hold it       we do not
//   -------------------------  ---------------  -----------------------------
//   this agent                 renew            renew (an answer was lost)
//   nobody, or no record       lost             take
//   an agent of our place      lost             take: its socket is ours now
//   another, which renews      lost             wait
//   another, but has expired   lost             take
//
// The table holds while the slurmctld of this host is in control. When that of
// another host is in control, a holder gives the Lease back and all others
// wait. While nobody knows, a holder keeps the Lease and nobody takes it.
#pragma once

#include "agent/daemon/permit.h"
#include "common/base/result.h"
#include "common/contract/controllers.h"
#include "common/kube/lease.h"

#include <chrono>
#include <string>

namespace bridge {

// How long after its last renewal a holder still writes. This is less than
// lease_duration (common/kube/lease.h), to allow for requests under way and for
// clocks of different speed.
inline constexpr std::chrono::seconds lease_trust{12};
inline constexpr std::chrono::seconds lease_interval{2}; // between two checks

// The identity of a holder: its host, its place, and a random name of the
// process. The place tells apart agents of one host that serve different
// sockets, and machines that have the same name.
struct LeaseHolder {
    std::string host;
    std::string place;
    std::string instance;

    // "HOST_PLACE_INSTANCE"
    std::string str() const;
    // Returns whether holder is an agent that used our socket before us.
    bool same_place(const std::string &holder) const;
};

// Returns the host in such a name, or the whole of any other text.
std::string holder_host(const std::string &holder);

// Returns the identity of this process, which serves that socket. Reads the
// boot id of the machine.
LeaseHolder this_holder(const std::string &host,
                        const std::string &socket_path);

enum class LeaseMove { wait, take, renew, give_back, lost };

// Remembers when the record was last seen to change.
class LeaseWatch {
  public:
    void see(const LeaseRecord &record, BootClock::time_point now);
    bool expired(BootClock::time_point now) const;

  private:
    LeaseRecord record_;
    BootClock::time_point changed_{};
};

LeaseMove lease_move(const LeaseRecord &record, const LeaseHolder &us,
                     bool holding, bool expired, Control control);

// Return the record to write for a move. time is a MicroTime.
LeaseRecord taken(const LeaseRecord &record, const LeaseHolder &us,
                  const std::string &time);
LeaseRecord given_back(const LeaseRecord &record, const std::string &time);

} // namespace bridge
