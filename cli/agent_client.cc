// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/agent_client.h"

#include <chrono>
#include <cstddef>
#include <httplib.h>
#include <utility>

namespace bridge {

namespace {

// More than the agent of a large cluster has to say.
constexpr std::size_t most_bytes = 64 << 20;

} // namespace

Result<AgentReply> ask_agent(const std::string &address,
                             const std::string &path)
{
    httplib::Client client("http://" + address);
    // The agent is on this host. From one second on, httplib would look the
    // address up in a thread of glibc, for which it does not wait.
    client.set_connection_timeout(std::chrono::milliseconds(900));
    client.set_read_timeout(20); // the agent may have to ask slurmctld
    client.set_max_timeout(std::chrono::seconds(30)); // for the whole answer
    std::string body;
    bool too_long = false;
    auto reply = client.Get(path, [&](const char *bytes, std::size_t count) {
        too_long = count > most_bytes - body.size();
        if (!too_long)
            body.append(bytes, count);
        return !too_long;
    });
    if (too_long)
        return fail(Code::rejected, "the answer of slurmk8sd at " + address +
                                        " is longer than 64 MiB");
    if (!reply)
        return fail(Code::busy, "slurmk8sd does not answer at " + address +
                                    ": is it running on this host?");
    return AgentReply{reply->status, std::move(body)};
}

} // namespace bridge
