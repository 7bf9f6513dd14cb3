#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# slurmctld away for ten minutes; a node deleted beside a hundred running and a hundred waiting Pods.
TEST_LONG=yes exec "$(dirname "${BASH_SOURCE[0]}")/../integration/faults/slurmctld.t" away_for_a_while unused_node_deleted "$@"
