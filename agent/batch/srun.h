// SPDX-License-Identifier: GPL-2.0-or-later
// The program srun, which starts the tasks of a batch job in its Pods
// (cli/srun). A ConfigMap brings it into any image. The ConfigMap's name
// contains a hash of the program, so that the ConfigMap never changes and
// serves all jobs. Pure functions, except for read_srun() and new_step_key().
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
// a part of batch_mount
inline constexpr char hosts_mount[] = "/slurmk8s/hosts";
inline constexpr char step_key_file[] = "step.key"; // in batch_mount
// The key in the Secret for the script that replaces srun where there is none.
inline constexpr char no_srun_file[] = "no-srun";
inline constexpr char arch_label[] = "kubernetes.io/arch"; // a Node's label

} // namespace names

// Returns the value of arch_label for which the program was built; "" for an
// architecture that is not known here.
std::string_view srun_architecture();

// Returns the bytes of the program. Code::not_found: the file does not exist.
// Code::rejected: a ConfigMap cannot hold it. Code::busy: it cannot be read.
Result<std::string> read_srun(const std::string &path);

// The name and the JSON of the ConfigMap. All agents make the same name for the
// same program.
std::string srun_map_name(std::string_view program);
std::string srun_map_body(const ObjectKey &key, std::string_view program);
// Returns whether the ConfigMap has the body made above. Anyone with the right
// to create ConfigMaps there could have made a different one.
bool is_srun_map(const Json &map, std::string_view program);

// Returns the JSON of the Service by which the Pods of the job resolve; it is
// named like the Pod of the script. A worker owns it, because the workers are
// deleted with the job, while the script's Pod stays for its logs and
// Kubernetes may go on publishing it (podEndpointsChanged() in
// k8s.io/endpointslice checks readiness, not whether the Pod has ended).
std::string batch_service_body(const Pod &first, const Pod &worker);
// Returns whether it is such a Service and owned by that Pod. Anyone with the
// right to create Services there could have made a different one.
bool is_service_of(const Json &service, const Pod &owner);
// Returns whether Kubernetes is going to remove the Service: it was owned by a
// worker of the same name that is gone, or it is being deleted itself.
bool was_service_of(const Json &service, const Pod &worker);

// Returns a random key by which the Pods of one job authenticate each other: 64
// hexadecimal digits. Code::busy when no random numbers can be read.
Result<std::string> new_step_key();

// Derives such a key from the random text in the script's file, which all tasks
// of a job array share, and the name of the task's Pod. The same arguments
// always give the same key. Returns "" when the hash cannot be computed.
std::string step_key_of(const std::string &random, const std::string &pod);

// Returns the script that stands for srun in a Pod without the program: it
// prints the reason and exits with 1.
std::string no_srun_script(const std::string &reason);

} // namespace bridge
