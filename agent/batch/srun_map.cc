// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/batch/srun_map.h"

#include "agent/batch/srun.h"

#include <utility>

namespace bridge {

namespace {

struct FoundMap {
    std::string uid; // empty: just created, uid not known
    bool made = false;
};

// Reads, or sends, the whole object.
Result<FoundMap> create_srun_map(const ObjectKey &key,
                                 const std::string &program, Kube &kube)
{
    auto there = kube.get_config_map(key);
    if (!there && there.error().code == Code::not_found) {
        auto made = kube.create_config_map(key, srun_map_body(key, program));
        if (made)
            return FoundMap{"", true};
        if (made.error().code != Code::conflict)
            return std::unexpected(made.error());
        there = kube.get_config_map(key); // another worker's
    }
    if (!there)
        return std::unexpected(there.error());
    if (!is_srun_map(*there, program))
        return fail(Code::denied, "the ConfigMap " + key.str() +
                                      " does not contain this srun: delete it");
    return FoundMap{there->text("metadata/uid")};
}

// Only reads the metadata if that shows that the object still has that uid.
// Otherwise the whole object is read, which shows the reason.
Result<FoundMap> find_srun_map(const ObjectKey &key, const std::string &program,
                               const std::string &uid, Kube &kube)
{
    if (!uid.empty() && kube.get_config_map_uid(key) == uid)
        return FoundMap{uid};
    return create_srun_map(key, program, kube);
}

} // namespace

bool is_refusal(const Error &error)
{
    return error.code == Code::denied || error.code == Code::rejected;
}

Result<bool> restore_srun_map_if_gone(const std::string &ns,
                                      const SrunProgram &program, Kube &kube,
                                      SrunMaps &maps, const SrunLook &look)
{
    if (!maps.begin_check(ns, program.map, look))
        return false;
    auto seen = maps.seen(ns);
    auto found =
        find_srun_map({ns, program.map}, program.bytes,
                      seen && seen->name == program.map ? seen->uid : "", kube);
    if (found)
        maps.record_seen(ns, {program.map, found->uid, look.now});
    else if (found.error().code == Code::denied)
        maps.forget(ns);
    maps.end_check(ns);
    if (!found)
        return std::unexpected(found.error());
    return found->made;
}

Result<bool> restore_srun_map(const Pod &pod, const std::string &path,
                              Kube &kube, SrunMaps &maps, Clock::time_point now)
{
    auto program = maps.program(path);
    if (!program)
        return std::unexpected(program.error());
    if (pod.annotation(names::batch_srun_annotation) != (*program)->map)
        return false;
    return restore_srun_map_if_gone(pod.key.ns, **program, kube, maps,
                                    {now, true});
}

} // namespace bridge
