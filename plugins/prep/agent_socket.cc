// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/prep/agent_socket.h"

#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace bridge {

Result<AgentSocket> AgentSocket::connect(const std::string &path)
{
    AgentSocket agent;
    agent.inode_ = inode_of(path); // before: at worst we connect once more
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
    Inode now = inode_of(path);
    return now.number != 0 && now != inode_;
}

AgentSocket::Inode AgentSocket::inode_of(const std::string &path)
{
    struct stat status{};
    if (stat(path.c_str(), &status) < 0)
        return {};
    return {status.st_dev, status.st_ino};
}

} // namespace bridge
