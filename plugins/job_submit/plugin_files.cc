// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/job_submit/plugin_files.h"

#include "plugins/shared/signals_blocked.h"
#include "plugins/shared/slurm_conf_path.h"

#include <chrono>
#include <cstdlib>
#include <exception>
#include <string>
#include <unistd.h>

extern "C" {
#include <slurm/spank.h> // slurm_error()
}

namespace bridge {

namespace {

void log(const std::string &line)
{
    slurm_error("job_submit/k8s: %s", line.c_str());
}

HookFiles *begin()
{
    HookFiles::Settings settings;
    settings.conf_path = k8s_conf_path();
    if (&slurm_conf && slurm_conf.state_save_location)
        settings.state_save_location = slurm_conf.state_save_location;
    auto *files = new HookFiles(settings, log);
    try {
        SignalsBlocked blocked;
        files->start();
        static const pid_t slurmctld = getpid();
        // Not where it forks, nor where it becomes the next one.
        std::atexit([] {
            constexpr std::chrono::seconds longest{5};
            if (getpid() == slurmctld)
                plugin_files().finish(longest);
        });
    } catch (const std::exception &e) {
        log(std::string("cannot read and write files, no job runs as Pods: ") +
            e.what());
    }
    return files;
}

} // namespace

HookFiles &plugin_files()
{
    // Never destroyed: slurmctld's threads may outlive static objects.
    static HookFiles &files = *begin();
    return files;
}

} // namespace bridge
