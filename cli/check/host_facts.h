// SPDX-License-Identifier: GPL-2.0-or-later
// What slurmk8s check needs to know about the host: files, and the agent.
#pragma once

#include "common/contract/conf.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bridge {

struct FileFacts {
    std::string path;
    bool there = false;
    std::string reason; // strerror(3), if it is not there
    std::uint32_t owner = 0;
    unsigned mode = 0; // permission bits
    bool directory = false;
    bool socket = false;
    std::string owner_name = {};
};

struct AgentFacts {
    bool answers = false;
    bool serving = false;
    std::string standby;
    std::map<std::string, std::string> problems;
};

struct HostFacts {
    std::uint32_t user_id = 0; // who runs the check
    // It is a container of the agent's Pod (slurmk8s-operator(8)): a kubelet
    // sets owners and modes there.
    bool in_pod = false;
    FileFacts conf;
    FileFacts token;
    FileFacts socket_directory;
    FileFacts socket;
    std::optional<FileFacts> state_save; // once slurmctld has told its path
    std::optional<std::chrono::sys_seconds> token_expires;
    std::chrono::sys_seconds now{};
    AgentFacts agent;
};

FileFacts read_file_facts(const std::string &path);

HostFacts load_host_facts(const Conf &conf, const std::string &conf_path,
                          const std::string &token_path);

} // namespace bridge
