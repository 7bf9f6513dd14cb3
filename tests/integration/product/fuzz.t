#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Four seconds of libFuzzer for each parser; tests/long has five minutes.
exec "$(dirname "$0")/../../fuzz/run" "${FUZZ_SECONDS:-4}"
