#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The outages of the API server that tests/integration has, as long as they are in life: a minute each.
TEST_LONG=yes exec "$(dirname "${BASH_SOURCE[0]}")/../integration/faults/api-server.t" outage_reset outage_black_hole "$@"
