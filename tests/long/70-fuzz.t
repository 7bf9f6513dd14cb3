#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Five minutes of libFuzzer for each parser. FUZZ_SECONDS says otherwise.
exec "$(dirname "$0")/../fuzz/run" "${FUZZ_SECONDS:-300}" "$@"
