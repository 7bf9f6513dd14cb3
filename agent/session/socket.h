// SPDX-License-Identifier: GPL-2.0-or-later
// The sockets under sessions: made, listened on and connected. None blocks, all
// are closed on exec.
#pragma once

#include "common/base/owned_fd.h"
#include "common/base/result.h"
#include "common/contract/session_conf.h"

#include <string>

namespace bridge {

// Listens at this path, for everybody: who calls the kernel says. A socket that
// is there goes, no other file. Code::denied when it cannot be.
Result<OwnedFd> listen_unix(const std::string &path);
// At an IP address of this host.
Result<OwnedFd> listen_tcp(const HostPort &address);

// The next caller; none: there is none.
OwnedFd accept_caller(const OwnedFd &listener);
// Of a caller by TCP, as text; empty where it has gone.
std::string address_of_caller(const OwnedFd &caller);

// Code::busy when nobody listens. The second tries each address of the host,
// five seconds each.
Result<OwnedFd> connect_unix(const std::string &path);
Result<OwnedFd> connect_tcp(const HostPort &server);

} // namespace bridge
