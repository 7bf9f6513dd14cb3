// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/act/bind.h"

#include "agent/decide/translate.h"
#include "common/base/log.h"

#include <atomic>

namespace bridge {

Result<> bind_pod(const Pod &pod, Binding binding, Kube &kube)
{
    static std::atomic<bool> told = false;
    Binding kept = binding;
    kept.annotations.merge(keep_node_annotations(pod));
    auto bound = kube.bind(pod, kept);
    if (bound || bound.error().code != Code::denied ||
        kept.annotations == binding.annotations)
        return bound;
    auto without = kube.bind(pod, binding);
    if (without && !told.exchange(true))
        log_warning("a policy refuses the annotations that keep autoscalers "
                    "from removing a Node under a Pod: apply the manifests of "
                    "this release",
                    {{"err", bound.error().message}});
    return without;
}

} // namespace bridge
