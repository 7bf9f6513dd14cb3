// SPDX-License-Identifier: GPL-2.0-or-later
// What a request to the API server is about, in the words of RBAC.
#pragma once

#include <compare>
#include <string>
#include <string_view>

namespace bridge {

struct RequestKind {
    std::string verb;     // get, list, watch, create, update, patch, delete,
                          // deletecollection
    std::string resource; // "pods", "pods/binding"; "other" if it is none, as
                          // of /version

    auto operator<=>(const RequestKind &) const = default;
};

// method is that of HTTP. path may have a query. Pure.
RequestKind request_kind(std::string_view method, std::string_view path);

} // namespace bridge
