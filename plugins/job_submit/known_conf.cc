// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/job_submit/known_conf.h"

#include "plugins/job_submit/conf_cache.h"
#include "plugins/shared/slurm_conf_path.h"

extern "C" {
#include <slurm/spank.h> // slurm_error()
}

namespace bridge {

std::shared_ptr<const Conf> known_conf()
{
    // Never destroyed: slurmctld's threads may outlive static objects.
    static ConfCache &cache = *new ConfCache;
    auto [conf, news] = cache.get(k8s_conf_path());
    if (!news.empty())
        slurm_error("job_submit/k8s: cannot read the settings for batch jobs: "
                    "%s%s",
                    news.c_str(),
                    conf ? "; the previous settings are used" : "");
    return conf;
}

} // namespace bridge
