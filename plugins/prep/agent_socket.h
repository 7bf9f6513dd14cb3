// SPDX-License-Identifier: GPL-2.0-or-later
// A connection to the agent that is known to be the agent's.
#pragma once

#include "common/contract/packet_socket.h"

#include <string>

namespace bridge {

class AgentSocket {
  public:
    // Code::busy when nobody listens at path; Code::denied when the process
    // that does is neither of our own user nor root: the agent says which jobs
    // start and end, so it must not be just anybody.
    static Result<AgentSocket> connect(const std::string &path);

    // Whether another socket has taken the path: its agent is the one to serve
    // from now on. No socket at all is no other agent, ours may still answer.
    bool replaced(const std::string &path) const;

    PacketSocket packets; // closed unless connect() made it

  private:
    SocketFile file_;
};

} // namespace bridge
