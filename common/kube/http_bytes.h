// SPDX-License-Identifier: GPL-2.0-or-later
// Takes a body from the API server as it comes, byte for byte: a container's
// log, of which Http::stream() would cut lines. Blocks; a connection of its
// own.
#pragma once

#include "common/kube/http.h"

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

namespace bridge {

using OnBytes = std::function<Result<>(std::string_view bytes)>;

// GETs path and hands over what comes, until the server ends it (success),
// on_bytes says no (its error), stop is requested (success), or nothing at all
// came for silence (Code::gone). A status other than 200 is an error with the
// reply's text, see status.h.
Result<> get_bytes(const HttpEndpoint &endpoint, const std::string &path,
                   const OnBytes &on_bytes, std::chrono::milliseconds silence,
                   const std::stop_token &stop);

} // namespace bridge
