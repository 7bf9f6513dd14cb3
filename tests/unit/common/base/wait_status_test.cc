// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/wait_status.h"

#include <doctest/doctest.h>
#include <sys/wait.h>

using namespace bridge;

TEST_CASE("the status for exit(1) is read by wait(2)'s macros")
{
    CHECK(WIFEXITED(exit_1));
    CHECK(WEXITSTATUS(exit_1) == 1);
}
