// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/agent_client.h"

#include <chrono>
#include <httplib.h>

namespace bridge {

Result<AgentReply> ask_agent(const std::string &address,
                             const std::string &path)
{
    httplib::Client client("http://" + address);
    // The agent is on this host. From one second on, httplib would look the
    // address up in a thread of glibc, for which it does not wait.
    client.set_connection_timeout(std::chrono::milliseconds(900));
    client.set_read_timeout(20); // the agent may have to ask slurmctld
    auto reply = client.Get(path);
    if (!reply)
        return fail(Code::busy, "slurmk8sd does not answer at " + address +
                                    ": is it running on this host?");
    return AgentReply{reply->status, reply->body};
}

} // namespace bridge
