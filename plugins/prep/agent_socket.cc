// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/prep/agent_socket.h"

#include <unistd.h>
#include <utility>

namespace bridge {

Result<AgentSocket> AgentSocket::connect(const std::string &path)
{
    AgentSocket agent;
    agent.file_ = socket_file(path); // before connecting: at worst we connect
                                     // once more
    auto packets = PacketSocket::connect(path);
    if (!packets)
        return std::unexpected(packets.error());
    auto uid = packets->peer_uid();
    if (!uid)
        return fail(uid.error(), path);
    if (*uid != 0 && *uid != geteuid())
        return fail(Code::denied, path + " is served by uid " +
                                      std::to_string(*uid) +
                                      ", neither SlurmUser nor root");
    agent.packets = std::move(*packets);
    return agent;
}

bool AgentSocket::replaced(const std::string &path) const
{
    SocketFile now = socket_file(path);
    return now.exists() && now != file_;
}

} // namespace bridge
