// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/step.h"

#include "common/contract/worker_names.h"

#include <utility>

namespace bridge::slinky {

const char *verb_name(Step::Verb verb)
{
    switch (verb) {
    case Step::Verb::create:
        return "create";
    case Step::Verb::apply:
        return "apply";
    case Step::Verb::patch:
        return "patch";
    case Step::Verb::remove:
        return "delete";
    }
    return "";
}

// Names of objects need no encoding in a path: the API server takes none that
// would.
std::string pods_path(const std::string &ns)
{
    return "/api/v1/namespaces/" + ns + "/pods";
}

std::string pod_path(const Key &key)
{
    return pods_path(key.ns) + "/" + key.name;
}

std::string slinky_path(const std::string &plural, const Key &key)
{
    return std::string("/apis/") + names::slinky_version + "/namespaces/" +
           key.ns + "/" + plural + "/" + key.name;
}

std::string applied(const std::string &path)
{
    return path + "?fieldManager=" + manager + "&force=true";
}

std::string delete_body(const Meta &meta)
{
    auto only = JsonValue::object(
        {{"uid", meta.uid}, {"resourceVersion", meta.version}});
    return JsonValue::object({{"apiVersion", "v1"},
                              {"kind", "DeleteOptions"},
                              {"preconditions", std::move(only)}})
        .dump();
}

} // namespace bridge::slinky
