// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/slurm/strings.h"

#include <cstdlib>

extern "C" {
#include <slurm/slurm.h>
}

namespace bridge {

std::vector<std::string> expand(const char *hostlist)
{
    std::vector<std::string> nodes;
    hostlist_t *list = hostlist ? slurm_hostlist_create(hostlist) : nullptr;
    if (!list)
        return nodes;
    while (char *host = slurm_hostlist_shift(list)) {
        nodes.emplace_back(host);
        std::free(host); // this string, unlike others of Slurm, is malloc'ed
    }
    slurm_hostlist_destroy(list);
    return nodes;
}

} // namespace bridge
