// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/contract/template_check.h"

#include "common/base/text.h"
#include "common/base/units.h"
#include "common/contract/batch_names.h"
#include "common/contract/batch_options.h"
#include "common/contract/template_members.h"

#include <algorithm>
#include <functional>
#include <set>
#include <span>

namespace bridge {

namespace {

using namespace template_members;

constexpr unsigned max_depth = 16;

JsonType type_of(const Json &value)
{
    std::string text = value.dump();
    char c = text.empty() ? 'n' : text.front();
    if (c == '-' || (c >= '0' && c <= '9'))
        return a_number;
    if (c == 'f')
        return a_flag;
    return c == an_object || c == an_array || c == a_string || c == a_flag
               ? static_cast<JsonType>(c)
               : anything;
}

const char *type_message(JsonType type)
{
    switch (type) {
    case an_object:
        return "must be an object";
    case an_array:
        return "must be an array";
    case a_string:
        return "must be a string";
    case a_number:
        return "must be a number";
    default:
        return "must be true or false";
    }
}

// Tells whether a site may use this key for a label or annotation. Other keys
// would make the Pod a member of something, or have a meaning for our programs.
bool is_sites_key(std::string_view key)
{
    constexpr std::string_view allowed =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./";
    if (key.empty() || key.find_first_not_of(allowed) != key.npos)
        return false;
    std::string_view domain = key.substr(0, key.find('/'));
    if (domain.size() == key.size() || domain == "app.kubernetes.io")
        return true;
    constexpr std::string_view taken[] = {
        "slurmk8s", "slinky.slurm.net", "k8s.io", "x-k8s.io", "kubernetes.io"};
    return std::ranges::none_of(taken, [&](std::string_view name) {
        return domain == name ||
               (domain.ends_with(name) &&
                domain[domain.size() - name.size() - 1] == '.');
    });
}

bool is_path(std::string_view path)
{
    return path.starts_with('/') && path.size() > 1 &&
           !(std::string(path) + "/").contains("/../");
}

bool is_under(std::string_view path, std::string_view directory)
{
    return path == directory ||
           (path.starts_with(directory) && path[directory.size()] == '/');
}

// Collects the first problem of a template.
class Checker {
  public:
    const std::string &reason() const { return reason_; }
    const std::vector<std::string> &choosable() const { return choosable_; }

    void check(const Json &pod)
    {
        check_names(pod, "", 0);
        if (!reason_.empty())
            return; // a repeated name would be checked only once
        if (!pod.is_object())
            return object_to("", "is not a JSON object");
        check_members(pod, "", in_pod);
        if (pod.text("kind") != "Pod")
            object_to("kind", "must be Pod");
        if (pod.at("apiVersion").present() && pod.text("apiVersion") != "v1")
            object_to("apiVersion", "must be v1");
        check_spec(pod.at("spec"));
        check_metadata(pod.at("metadata"));
    }

  private:
    void object_to(const std::string &path, const std::string &words)
    {
        if (reason_.empty())
            reason_ = path.empty() ? words : path + ": " + words;
    }

    // A member that occurs twice may be read in different ways by different
    // programs.
    void check_names(const Json &value, const std::string &path, unsigned depth)
    {
        if (depth > max_depth)
            return object_to(path, "is nested too deeply");
        std::set<std::string> seen;
        for (const auto &[name, member] : value.members()) {
            std::string inside = path.empty() ? name : path + "." + name;
            if (!seen.insert(name).second)
                return object_to(inside, "occurs twice");
            check_names(member, inside, depth + 1);
        }
        std::size_t index = 0;
        for (const Json &item : value.items())
            check_names(item, indexed(path, index++), depth + 1);
    }

    static std::string indexed(const std::string &path, std::size_t index)
    {
        return path + "[" + std::to_string(index) + "]";
    }

    void check_members(const Json &value, const std::string &path,
                       std::span<const Member> known)
    {
        for (const auto &[name, member] : value.members()) {
            std::string inside = path.empty() ? name : path + "." + name;
            auto found = std::ranges::find(known, name, &Member::name);
            if (found == known.end())
                object_to(inside, "is not allowed in a template");
            else if (found->reason)
                object_to(inside, found->reason);
            else if (type_of(member) != found->type)
                object_to(inside, type_message(found->type));
        }
    }

    // Calls look for each item of an array of objects, with the path of the
    // item.
    using Look = std::function<void(const Json &, const std::string &)>;
    void each(const Json &list, const std::string &path,
              std::span<const Member> known, const Look &look)
    {
        std::size_t index = 0;
        for (const Json &item : list.items()) {
            std::string inside = indexed(path, index++);
            if (!item.is_object())
                return object_to(inside, type_message(an_object));
            if (!known.empty())
                check_members(item, inside, known);
            look(item, inside);
        }
    }

    void check_metadata(const Json &metadata)
    {
        check_members(metadata, "metadata", in_metadata);
        for (const char *kind : {"labels", "annotations"}) {
            for (const auto &[key, value] : metadata.members(kind)) {
                std::string path = std::string("metadata.") + kind + "." + key;
                if (type_of(value) != a_string)
                    object_to(path, type_message(a_string));
                if (key == names::choosable_volumes &&
                    std::string_view(kind) == "annotations")
                    check_choosable(value.text(), path);
                else if (!is_sites_key(key))
                    object_to(path, "is not allowed in a template");
            }
        }
    }

    void check_choosable(std::string_view list, const std::string &path)
    {
        while (!list.empty()) {
            std::string name(next_part(list, ','));
            if (!volumes_.contains(name))
                object_to(path,
                          "\"" + name + "\" is not a volume of the template");
            else if (std::ranges::contains(choosable_, name))
                object_to(path, "\"" + name + "\" occurs twice");
            else
                choosable_.push_back(name);
        }
    }

    void check_spec(const Json &spec)
    {
        check_members(spec, "spec", in_spec);
        check_security(spec.at("securityContext"), "spec.securityContext",
                       in_pod_security);
        each(spec.at("volumes"), "spec.volumes", {},
             [&](const Json &volume, const std::string &path) {
                 check_volume(volume, path);
             });
        each(spec.at("tolerations"), "spec.tolerations", in_toleration,
             [](const Json &, const std::string &) {});
        if (spec.items("containers").size() != 1)
            return object_to("spec.containers", "must be one container");
        each(spec.at("containers"), "spec.containers", in_container,
             [&](const Json &container, const std::string &path) {
                 check_container(container, path);
             });
        for (const std::string &name : volumes_)
            if (!mounted_.contains(name))
                object_to("spec.volumes", "\"" + name + "\" is not mounted");
        check_grace(spec.at("terminationGracePeriodSeconds"));
    }

    void check_grace(const Json &grace)
    {
        std::int64_t seconds = grace.integer().value_or(0);
        if (grace.present() && (seconds < 1 || seconds > max_grace_period))
            object_to("spec.terminationGracePeriodSeconds",
                      "must be a whole number from 1 to " +
                          std::to_string(max_grace_period));
    }

    void check_security(const Json &security, const std::string &path,
                        std::span<const Member> known)
    {
        check_members(security, path, known);
        for (const char *profile : {"seccompProfile", "appArmorProfile"})
            if (security.at(profile).text("type") == "Unconfined")
                object_to(path + "." + profile + ".type", privilege);
    }

    void check_volume(const Json &volume, const std::string &path)
    {
        std::string name = volume.text("name");
        if (!is_label(name) || name.starts_with(names::batch_volume_prefix))
            object_to(
                path + ".name",
                "must consist of lower-case letters, digits and '-', and not "
                "begin with " +
                    std::string(names::batch_volume_prefix));
        if (!volumes_.insert(name).second)
            object_to(path + ".name", "\"" + name + "\" occurs twice");
        if (volume.members().size() != 2)
            object_to(path, "must have a name and one kind of volume");
        Json host = volume.at("hostPath");
        if (host.present() && !is_path(host.text("path")))
            object_to(path + ".hostPath.path",
                      "must be an absolute path below /");
        std::size_t index = 0;
        for (const Json &source : volume.items("projected/sources"))
            if (std::string inside =
                    indexed(path + ".projected.sources", index++);
                source.at("serviceAccountToken").present())
                object_to(inside + ".serviceAccountToken",
                          "Pods of batch jobs have no token of the API server");
    }

    void check_container(const Json &container, const std::string &path)
    {
        check_security(container.at("securityContext"),
                       path + ".securityContext", in_container_security);
        each(container.at("volumeMounts"), path + ".volumeMounts", in_mount,
             [&](const Json &mount, const std::string &inside) {
                 check_mount(mount, inside);
             });
        each(container.at("env"), path + ".env", in_variable,
             [&](const Json &variable, const std::string &inside) {
                 std::string entry = variable.text("name") + "=";
                 if (std::string reason = unfit_variable_reason(entry);
                     !reason.empty())
                     object_to(inside + ".name", "must " + reason);
             });
    }

    void check_mount(const Json &mount, const std::string &path)
    {
        std::string name = mount.text("name");
        std::string where = mount.text("mountPath");
        if (!volumes_.contains(name))
            object_to(path + ".name",
                      "\"" + name + "\" is not a volume of the template");
        mounted_.insert(name);
        if (!is_path(where) || where.contains(':') ||
            is_under(where, names::batch_mount) ||
            is_under(where, names::batch_pipes_mount) ||
            is_under(where, names::batch_ends_mount))
            object_to(path + ".mountPath",
                      std::string("must be an absolute path, and not in ") +
                          names::batch_mount + ", " + names::batch_pipes_mount +
                          " or " + names::batch_ends_mount);
        if (mount.text("mountPropagation") == "Bidirectional")
            object_to(path + ".mountPropagation", privilege);
    }

    std::string reason_;
    std::set<std::string> volumes_;
    std::set<std::string> mounted_;
    std::vector<std::string> choosable_;
};

} // namespace

TemplateFindings check_template(const Json &pod)
{
    Checker checker;
    checker.check(pod);
    return {checker.reason(), checker.choosable()};
}

} // namespace bridge
