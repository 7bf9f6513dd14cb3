// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/daemon/left.h"

#include "common/contract/worker_names.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace bridge::slinky {

namespace {

constexpr long not_found = 404;
constexpr char most[] = "3"; // of a kind and namespace; that is enough to name

// Appends the first names below this path.
Result<> add_names(Http &http, const std::string &kind, const std::string &path,
                   std::vector<std::string> &names)
{
    auto reply = http.get(path + "?limit=" + most);
    if (!reply)
        return std::unexpected(reply.error());
    if (reply->status == not_found)
        return {};
    if (auto said = check_status(*reply); !said)
        return said;
    auto list = Json::parse(reply->body);
    if (!list)
        return std::unexpected(list.error());
    std::ranges::move(names_in(kind, *list), std::back_inserter(names));
    return {};
}

std::string sentence(const std::vector<std::string> &names)
{
    if (names.empty())
        return {};
    std::string text = "There are objects that only the operator can end";
    for (const std::string &name : names)
        text += (&name == &names.front() ? ": " : ", ") + name;
    return text + ". Delete all Controllers and NodeSets first.";
}

} // namespace

std::vector<std::string> names_in(const std::string &kind, const Json &list)
{
    std::vector<std::string> names;
    for (const Json &item : list.items("items"))
        names.push_back(kind + " " + item.text("metadata/namespace") + "/" +
                        item.text("metadata/name"));
    return names;
}

Result<std::string> objects_left(const HttpEndpoint &endpoint,
                                 const std::vector<std::string> &namespaces)
{
    Http http(endpoint);
    const std::string api = std::string("/apis/") + names::slinky_version;
    std::vector<std::string> places;
    for (const std::string &ns : namespaces)
        places.push_back(api + "/namespaces/" + url_encode(ns));
    if (places.empty())
        places.push_back(api);
    std::vector<std::string> found;
    for (const std::string &place : places)
        for (auto [kind, plural] : {std::pair("Controller", "/controllers"),
                                    {"NodeSet", "/nodesets"}})
            if (auto said = add_names(http, kind, place + plural, found); !said)
                return std::unexpected(said.error());
    return sentence(found);
}

} // namespace bridge::slinky
