// SPDX-License-Identifier: GPL-2.0-or-later
// The keys of k8s.conf with which users reach the logs and containers of their
// jobs: where slurmk8sd listens, and where slurmk8s connects. They are separate
// from conf.h because, of the plugins, only job_submit/k8s needs one of them.
#pragma once

#include "common/base/result.h"

#include <string>
#include <string_view>

namespace bridge {

// One field for each key, with the default of the man page: slurmk8sd does not
// listen.
struct SessionConf {
    std::string socket{};      // UserSocket=PATH, on the agent's own host
    std::string address{};     // UserAddress=IP:PORT, with TLS
    std::string certificate{}; // UserCertificate=PATH, PEM, for UserServer
    std::string key{};         // UserKey=PATH, PEM, of that certificate
    std::string server{};      // UserServer=HOST:PORT, for slurmk8s
    std::string ca_file{};     // UserCaFile=PATH, PEM, for slurmk8s
    bool attach = false;       // UserAttach=yes|no

    bool operator==(const SessionConf &) const = default;
};

// Parse a whole k8s.conf and ignore all other keys. Code::rejected, with the
// line number, for invalid values, and for an address without the keys that it
// requires. load_session_conf() also returns Code::not_found.
Result<SessionConf> parse_session_conf(std::string_view text);
Result<SessionConf> load_session_conf(const std::string &path);

// For the parser of the other keys: returns the name of a key as it is written
// in the documentation, or "" if this file does not define it.
std::string_view session_key(std::string_view name);

} // namespace bridge
