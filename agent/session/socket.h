// SPDX-License-Identifier: GPL-2.0-or-later
// The sockets of sessions: listening, accepting and connecting. All of them are
// non-blocking and closed on exec.
#pragma once

#include "common/base/host_port.h"
#include "common/base/owned_fd.h"
#include "common/base/result.h"

#include <string>

namespace bridge {

// Listens at this path; every user may connect, and the kernel identifies the
// caller. Replaces an existing socket, but no other file. Code::denied on
// failure.
Result<OwnedFd> listen_unix(const std::string &path);
// Listens at an IP address of this host. Code::denied on failure.
Result<OwnedFd> listen_tcp(const HostPort &address);

// Returns the next connection, or an empty descriptor if there is none.
OwnedFd accept_caller(const OwnedFd &listener);
// Returns the IP address of a TCP caller as text, or "" if it has gone.
std::string address_of_caller(const OwnedFd &caller);

// Connect to a server. Code::busy when nobody listens. connect_tcp() tries each
// address of the host for five seconds.
Result<OwnedFd> connect_unix(const std::string &path);
Result<OwnedFd> connect_tcp(const HostPort &server);

} // namespace bridge
