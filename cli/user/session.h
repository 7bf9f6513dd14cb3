// SPDX-License-Identifier: GPL-2.0-or-later
// A session with slurmk8sd, from the user's side: at its UNIX socket where this
// is its host, else by TLS.
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

// Of a k8s.conf that has no mistake.
Result<SessionConf> load_user_conf(const std::string &path);

// Says who we are, and asks. Code::denied and busy, in words, when there is
// nobody to ask or nobody who knows us.
Result<PeerStream> open_session(const SessionConf &conf,
                                SessionRequest request);

// Which job a user means; what is wrong with it was said when there is none,
// and the exit status for that is left.
std::expected<std::uint32_t, int> job_meant(const std::string &text);

// All of it; false: nobody reads it any more.
bool write_to(int fd, std::string_view bytes);

// Says what was refused, and returns the exit status for it; that of what was
// run where nothing was.
int report_end(const SessionEnd &end);

} // namespace bridge
