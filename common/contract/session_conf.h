// SPDX-License-Identifier: GPL-2.0-or-later
// The keys of k8s.conf by which users reach the logs and containers of their
// jobs: where slurmk8sd listens to them, and where slurmk8s finds it. Apart
// from conf.h: of the plugins job_submit/k8s alone reads one of them.
#pragma once

#include "common/base/result.h"

#include <string>
#include <string_view>

namespace bridge {

// One field a key, with the man page's default: nobody listens.
struct SessionConf {
    std::string socket{};      // UserSocket=PATH, on the agent's own host
    std::string address{};     // UserAddress=IP:PORT, by TLS
    std::string certificate{}; // UserCertificate=PATH, PEM, of UserServer
    std::string key{};         // UserKey=PATH, PEM, of that certificate
    std::string server{};      // UserServer=HOST:PORT, for slurmk8s
    std::string ca_file{};     // UserCaFile=PATH, PEM, for slurmk8s
    bool attach = false;       // UserAttach=yes|no

    bool operator==(const SessionConf &) const = default;
};

// HOST:PORT; an IPv6 address stands in brackets.
struct HostPort {
    std::string host;
    std::string port;
};

// Code::rejected for anything else.
Result<HostPort> parse_host_port(std::string_view text);

// Of a whole k8s.conf; other keys are passed over. Code::rejected, with the
// line, for bad values and for an address without what it needs.
Result<SessionConf> parse_session_conf(std::string_view text);
Result<SessionConf> load_session_conf(const std::string &path);

// For who reads the other keys: the name as it is written here, "" when this is
// no key of ours.
std::string_view session_key(std::string_view name);

} // namespace bridge
