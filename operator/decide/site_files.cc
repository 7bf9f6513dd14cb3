// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/site_files.h"

#include "operator/decide/jwks.h"

#include <format>

namespace bridge::slinky {

namespace {

// A list of ConfigMaps in the spec of a Controller. Each of their files is a
// script of this key of slurm.conf; "": they are files, and no scripts. A
// script without directory is one that slurmctld sends to slurmd.
struct Reference {
    const char *field;
    const char *key;
    const char *directory;
};

constexpr Reference references[] = {
    {"configFileRefs", "", ""},
    {"prologScriptRefs", "Prolog", ""},
    {"epilogScriptRefs", "Epilog", ""},
    {"prologSlurmctldScriptRefs", "PrologSlurmctld", "/etc/slurm/"},
    {"epilogSlurmctldScriptRefs", "EpilogSlurmctld", "/etc/slurm/"},
};

void add_files(SiteFiles &made, const Reference &reference,
               const FileMap &found)
{
    const std::string &name = found.meta.key.name;
    bool is_script = *reference.key != '\0';
    auto add = [&](const TextMap &from, TextMap &to, TextMap &other) {
        for (const auto &[file, content] : from) {
            bool there = made.texts.contains(file) ||
                         made.binaries.contains(file) || file == "slurm.conf";
            if (is_script && there)
                made.problem = std::format(
                    "The script {} of ConfigMap {} ({}) has the name of "
                    "another file.",
                    file, name, reference.field);
            other.erase(file);
            to[file] = content;
            if (is_script)
                made.lines += std::format("{}={}{}\n", reference.key,
                                          reference.directory, file);
        }
    };
    add(found.texts, made.texts, made.binaries);
    add(found.binaries, made.binaries, made.texts);
}

// Whatever other files have this name.
void add_jwks(SiteFiles &made, const Known &known, const Controller &controller)
{
    Jwks jwks = jwks_of(known, controller.meta.key.ns, controller.spec);
    if (!jwks.named)
        return;
    made.binaries.erase(jwks_file);
    made.texts[jwks_file] = jwks.text;
    if (made.problem.empty())
        made.problem = jwks.problem;
}

} // namespace

bool names_files(const Controller &controller)
{
    if (names_jwks(controller.spec))
        return true;
    for (const Reference &reference : references)
        if (!controller.spec.items(reference.field).empty())
            return true;
    return false;
}

SiteFiles site_files(const Known &known, const Controller &controller)
{
    SiteFiles made;
    const std::string &ns = controller.meta.key.ns;
    made.known = !names_files(controller) || known.file_namespaces.contains(ns);
    if (!made.known)
        return made;
    for (const Reference &reference : references)
        for (const Json &ref : controller.spec.items(reference.field)) {
            std::string name = ref.text("name");
            auto found = known.file_maps.find({ns, name});
            if (found != known.file_maps.end())
                add_files(made, reference, found->second);
            else if (made.problem.empty())
                made.problem =
                    std::format("There is no ConfigMap \"{}\" in this "
                                "namespace, which {} names.",
                                name, reference.field);
        }
    add_jwks(made, known, controller);
    return made;
}

} // namespace bridge::slinky
