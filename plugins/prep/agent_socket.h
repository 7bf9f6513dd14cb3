// SPDX-License-Identifier: GPL-2.0-or-later
// A connection to a process that is known to be the agent.
#pragma once

#include "common/contract/packet_socket.h"

#include <string>

namespace bridge {

class AgentSocket {
  public:
    // Code::not_found if nobody listens at path; Code::busy if the connection
    // fails for another reason; Code::denied if the process that listens runs
    // neither as our own user nor as root: the agent decides which jobs start
    // and end, so it must not be just anybody.
    static Result<AgentSocket> connect(const std::string &path);

    // Tells whether another socket is at the path now: its agent is the one to
    // serve from then on. If there is no socket at all, ours may still answer.
    bool replaced(const std::string &path) const;

    PacketSocket packets; // closed unless connect() has made it

  private:
    SocketFile file_;
};

} // namespace bridge
