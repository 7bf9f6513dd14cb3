// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/kube/request_kind.h"

#include "common/base/text.h"

#include <cstddef>
#include <vector>

namespace bridge {

namespace {

// "/api/v1/namespaces/NS/pods/NAME/binding": what comes after the version, and
// after a namespace in which something is.
struct Parts {
    std::string resource;
    bool named = false;
};

Parts parts_of(std::string_view path)
{
    std::vector<std::string_view> words =
        all_parts(path.substr(0, path.find('?')), '/');
    // The path begins with '/', so the first word is empty.
    std::size_t at = 0;
    if (words.size() > 3 && words[1] == "api")
        at = 3;
    else if (words.size() > 4 && words[1] == "apis")
        at = 4;
    else
        return {"other", false};
    if (words[at] == "namespaces" && words.size() > at + 2)
        at += 2;
    Parts parts{std::string(words[at]), words.size() > at + 1};
    if (words.size() > at + 2)
        parts.resource += "/" + std::string(words[at + 2]);
    return parts;
}

bool is_watch(std::string_view path)
{
    std::size_t query = path.find('?');
    return query != path.npos && (path.find("watch=1", query) != path.npos ||
                                  path.find("watch=true", query) != path.npos);
}

} // namespace

RequestKind request_kind(std::string_view method, std::string_view path)
{
    Parts parts = parts_of(path);
    std::string verb = "get";
    if (method == "POST")
        verb = "create";
    else if (method == "PUT")
        verb = "update";
    else if (method == "PATCH")
        verb = "patch";
    else if (method == "DELETE")
        verb = parts.named ? "delete" : "deletecollection";
    else if (is_watch(path))
        verb = "watch";
    else if (!parts.named && parts.resource != "other")
        verb = "list";
    return {verb, std::move(parts.resource)};
}

} // namespace bridge
