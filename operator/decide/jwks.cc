// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/jwks.h"

#include "common/base/json.h"

#include <format>

namespace bridge::slinky {

bool names_jwks(const Json &spec)
{
    return !spec.text("jwksKeyRef/name").empty();
}

Jwks jwks_of(const Known &known, const std::string &ns, const Json &spec)
{
    Jwks found;
    found.named = names_jwks(spec);
    found.known = !found.named || known.file_namespaces.contains(ns);
    if (!found.named || !found.known)
        return found;
    std::string name = spec.text("jwksKeyRef/name");
    std::string file = spec.text("jwksKeyRef/key");
    auto map = known.file_maps.find({ns, name});
    if (map != known.file_maps.end())
        if (auto text = map->second.texts.find(file);
            text != map->second.texts.end()) {
            found.text = text->second;
            found.problem = jwks_mistake(found.text);
            return found;
        }
    found.problem =
        std::format("There is no ConfigMap \"{}\" with a file \"{}\" in this "
                    "namespace, which jwksKeyRef names.",
                    name, file);
    return found;
}

std::string jwks_mistake(std::string_view text)
{
    auto set = Json::parse(text);
    if (!set)
        return "The JSON Web Key Set is no JSON: " + set.error().message + ".";
    if (!set->member("keys").is_array())
        return "The JSON Web Key Set has no list \"keys\".";
    for (const Json &key : set->items("keys")) {
        std::string algorithm = key.text("alg");
        if (!algorithm.empty() && algorithm != "RS256")
            continue;
        if (algorithm.empty() && key.text("kty") != "RSA")
            continue;
        for (const char *part : {"kid", "n", "e"})
            if (key.text(part).empty())
                return std::format("A key for RS256 of the JSON Web Key Set "
                                   "has no \"{}\".",
                                   part);
    }
    return {};
}

} // namespace bridge::slinky
