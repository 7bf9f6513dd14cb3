// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/batch/pod.h"
#include "agent/batch/srun.h"
#include "agent/objects/owner_reference.h"
#include "common/base/json.h"
#include "common/kube/base64.h"

namespace bridge {

std::string batch_secret_body(const Pod &pod, const std::string &launcher,
                              const std::string &script, const StepSecret &step)
{
    JsonValue::Object data{{"run", base64(launcher)},
                           {"script", base64(script)}};
    if (!step.key.empty())
        data.emplace_back(names::step_key_file, base64(step.key));
    if (!step.no_srun.empty())
        data.emplace_back(names::no_srun_file, base64(step.no_srun));
    return JsonValue::object({{"apiVersion", "v1"},
                              {"kind", "Secret"},
                              {"metadata", metadata_owned_by(pod)},
                              {"type", "slurmk8s/sbatch"},
                              {"immutable", true},
                              {"data", JsonValue::object(std::move(data))}})
        .dump();
}

} // namespace bridge
