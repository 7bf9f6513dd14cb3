// SPDX-License-Identifier: GPL-2.0-or-later
// The Lease (coordination.k8s.io) that says which agent acts, and the rules by
// which it changes hands. Pure, but for LeaseStore.
//
//   holder in the record      we hold it        we do not
//   ------------------------  ----------------  -----------------------------
//   we                        renew             renew (an answer was lost)
//   nobody, or no record      lost              take
//   an agent of our place     lost              take: its socket is ours now
//   another, and it renews    lost              wait
//   another, for too long not lost              take
//
// All of this only while slurmctld of this host is in control. When that of
// another host is, a holder gives the Lease back and everybody else waits;
// while nobody knows, a holder stays one and nobody takes.
#pragma once

#include "agent/daemon/permit.h"
#include "common/base/result.h"
#include "common/kube/lease.h"
#include "common/slurm/controllers.h"

#include <chrono>
#include <string>

namespace bridge {

// How long after the last renewal its holder still writes. The difference is
// for requests that are under way, and for clocks of other speed.
inline constexpr std::chrono::seconds lease_trust{12};
inline constexpr std::chrono::seconds lease_interval{2}; // between two looks

// Who holds it: host, place and a random name of this process. The place tells
// agents of one host apart that serve different sockets, and other machines
// that have the same name.
struct LeaseHolder {
    std::string host;
    std::string place;
    std::string instance;

    // "HOST_PLACE_INSTANCE"
    std::string str() const;
    // Whether that is an agent that used our socket before us.
    bool same_place(const std::string &holder) const;
};

// The host in such a name, or all of another one.
std::string holder_host(const std::string &holder);

// This process, which serves that socket.
LeaseHolder this_holder(const std::string &host,
                        const std::string &socket_path);

enum class LeaseMove { wait, take, renew, give_back, lost };

// When a record was last seen to change.
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

// The record to write for a move; time as a MicroTime.
LeaseRecord taken(const LeaseRecord &record, const LeaseHolder &us,
                  const std::string &time);
LeaseRecord given_back(const LeaseRecord &record, const std::string &time);

} // namespace bridge
