// SPDX-License-Identifier: GPL-2.0-or-later
// The slurmctld that has loaded the plugin: its callbacks, its variables, and
// RPCs to it.
#pragma once

#include "common/contract/controllers.h"
#include "plugins/prep/slurmctld.h"

#include <cstdint>
#include <string>
#include <vector>

namespace bridge {

// Declared in slurmctld's prep.h.
struct PrepCallbacks {
    void (*prolog_slurmctld)(int rc, std::uint32_t job_id, bool timed_out);
    void (*epilog_slurmctld)(int rc, std::uint32_t job_id, bool timed_out);
};

// The name of this host, as gethostname(2) says it.
std::string this_host();

// Looks for the signs of ControlWatch: reads the heartbeat once a second at
// most, and slurmctld's variable each time. Used by one thread.
class ControlSigns {
  public:
    ControlSigns();
    ControlWatch::Finding find();

  private:
    const Controllers controllers_;
    ControlWatch watch_;
    ControlWatch::Signs signs_;
    ControlWatch::Seconds read_at_ = -1;
};

class RealSlurmctld final : public Slurmctld {
  public:
    explicit RealSlurmctld(const PrepCallbacks &callbacks)
        : callbacks_(callbacks)
    {
    }

    ControlWatch::Finding control() override { return control_.find(); }
    std::vector<std::string> nodes_of(const std::string &hostlist) override;
    void finish(const Release &release) override;
    void kick() override;
    Result<> drain(const std::string &node, const std::string &reason) override;
    Result<> requeue(JobRef job) override;
    void log(LogLevel level, const std::string &line) override;

  private:
    const PrepCallbacks callbacks_;
    ControlSigns control_;
};

} // namespace bridge
