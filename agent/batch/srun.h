// SPDX-License-Identifier: GPL-2.0-or-later
// The program that starts the tasks of a batch job in its Pods (cli/srun). It
// comes to any image by a ConfigMap, whose name says what is in it, so that it
// never changes and serves all jobs. But for read_srun() and new_step_key()
// pure.
#pragma once

#include "agent/objects/objects.h"
#include "common/base/json.h"
#include "common/base/result.h"
#include "common/contract/batch_names.h"

#include <string>
#include <string_view>

namespace bridge {

namespace names {

inline constexpr char srun_mount[] = "/slurmk8s/bin"; // a part of batch_mount
inline constexpr char hosts_mount[] = "/slurmk8s/hosts"; // likewise
inline constexpr char step_key_file[] = "step.key";      // in batch_mount
// In the Secret: a script that stands in place of srun, where there is none.
inline constexpr char no_srun_file[] = "no-srun";
inline constexpr char arch_label[] = "kubernetes.io/arch"; // of a Node

} // namespace names

// For which nodes the program was built, as their label arch_label says
// it; empty: for none that we know.
std::string_view srun_architecture();

// Its bytes. Code::not_found where there is none, rejected for one that no
// ConfigMap has room for, busy where it cannot be read.
Result<std::string> read_srun(const std::string &path);

// The same for the same program, of any agent.
std::string srun_map_name(std::string_view program);
std::string srun_map_body(const ObjectKey &key, std::string_view program);
// Whether it is one of that body: whoever may make ConfigMaps there could have
// made another.
bool is_srun_map(const Json &map, std::string_view program);

// The Service by which the Pods of the job resolve, of the name of the
// script's. A worker owns it, which goes with the job: the script's Pod stays
// for its logs, and Kubernetes may go on saying that it is there
// (podEndpointsChanged() in k8s.io/endpointslice asks for readiness, and not
// whether it has ended).
std::string batch_service_body(const Pod &first, const Pod &worker);
// Whether it is such a one, and that Pod owns it: whoever may make Services
// there could have made another.
bool is_service_of(const Json &service, const Pod &owner);
// Whether a worker of that name owned it that is gone, or it goes itself:
// Kubernetes removes it.
bool was_service_of(const Json &service, const Pod &worker);

// By which the Pods of one job know each other: 64 hexadecimal digits, random.
// Code::busy where there are no random numbers.
Result<std::string> new_step_key();

// Likewise of that random text in the script's file, which all tasks of an
// array have: another one for each of them, by the name of its Pod, and always
// the same. Empty where it cannot be reckoned.
std::string step_key_of(const std::string &random, const std::string &pod);

// What "srun" is in a Pod without the program: says why, and ends with 1.
std::string no_srun_script(const std::string &why);

} // namespace bridge
