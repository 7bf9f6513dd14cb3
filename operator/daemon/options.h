// SPDX-License-Identifier: GPL-2.0-or-later
// The command line of slurmk8s-operator(8). Pure.
#pragma once

#include "common/base/log.h"
#include "common/base/result.h"

#include <string>
#include <vector>

namespace bridge::slinky {

struct Options {
    std::vector<std::string> namespaces; // none: all
    std::string server;                  // "": that of the Pod
    std::string ca_file;
    std::string token_file;
    std::string lease_namespace; // "": that of the Pod
    std::string lease_name = "slurmk8s-operator";
    std::string web_address = "127.0.0.1:6830";
    std::string agent_image; // "": as annotations of Controllers say
    LogLevel log_level = LogLevel::info;
    bool check_unused = false; // look for objects, and end
    bool help = false;
    bool version = false;
};

// Code::rejected, with the reason, for options that make no sense.
Result<Options> parse_options(int argc, char **argv);

extern const char help_text[];

} // namespace bridge::slinky
