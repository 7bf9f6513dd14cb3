// SPDX-License-Identifier: GPL-2.0-or-later
// The user's side of a session with slurmk8sd: by its UNIX socket if slurmk8sd
// runs on this host, otherwise by TLS.
#pragma once

#include "agent/session/peer_stream.h"
#include "common/base/result.h"
#include "common/contract/session_conf.h"
#include "common/contract/session_request.h"

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

namespace bridge {

// Loads the settings for sessions. The whole k8s.conf must be free of mistakes.
Result<SessionConf> load_user_conf(const std::string &path);

// Connects, identifies the user and sends the request. Code::denied or
// Code::busy, with a message for the user, when no slurmk8sd can be reached or
// nobody can confirm who the user is.
Result<PeerStream> open_session(const SessionConf &conf,
                                SessionRequest request);

// Returns the JobId that the text names. If there is none, prints an error
// message and returns the exit status for it.
std::expected<std::uint32_t, int> job_meant(const std::string &text);

// Writes all of the bytes. Returns false when nobody reads them any more.
bool write_to(int fd, std::string_view bytes);

// Returns the exit status of the command. If the request was refused, prints
// the reason and returns the exit status for that.
int report_end(const SessionEnd &end);

} // namespace bridge
