// SPDX-License-Identifier: GPL-2.0-or-later
// Gets a reply's body from the API server byte by byte as it arrives, for
// container logs; Http::stream() would cut it into lines. Blocks, and uses a
// connection of its own.
#pragma once

#include "common/kube/http.h"

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

namespace bridge {

using OnBytes = std::function<Result<>(std::string_view bytes)>;

// GETs path and calls on_bytes with each part of the body. Returns success when
// the server ends the reply or when a stop is requested. Fails with the error
// of on_bytes, with Code::gone if nothing arrives for the time silence, and for
// a status other than 200 with an error that has the reply's message
// (status.h).
Result<> get_bytes(const HttpEndpoint &endpoint, const std::string &path,
                   const OnBytes &on_bytes, std::chrono::milliseconds silence,
                   const std::stop_token &stop);

} // namespace bridge
