// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/contract/unit_user.h"

#include <doctest/doctest.h>

using namespace bridge;

TEST_CASE("an agent of SlurmUser may serve, and no other, not even root's")
{
    CHECK(wrong_user_reason(64030, "slurm", {64030, "slurm"}).empty());
    CHECK(wrong_user_reason(0, "root", {0, "root"}).empty());
    CHECK_FALSE(wrong_user_reason(0, "root", {64030, "slurm"}).empty());

    std::string reason = wrong_user_reason(64030, "slurm", {0, "root"});
    CHECK(reason.starts_with("it runs as slurm, and must run as SlurmUser, "
                             "which slurm.conf says is root: set User=root in "
                             "slurmk8sd.service"));
    CHECK(reason.contains(run_as_command("root")));
}

TEST_CASE("the commands for systemd can be pasted")
{
    CHECK(run_as_command("slurm") ==
          "mkdir -p /etc/systemd/system/slurmk8sd.service.d; "
          "(echo '[Service]'; echo User=slurm; echo Group=) > "
          "/etc/systemd/system/slurmk8sd.service.d/user.conf; "
          "systemctl daemon-reload; systemctl restart slurmk8sd");
}
