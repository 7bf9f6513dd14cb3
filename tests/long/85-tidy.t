#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# clang-tidy on all sources of the product; tests/integration/product/style.t has it on those that changed.
set -uo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
: "${SANDBOX:?the sandbox that has built this checkout}"
echo 1..1
"$top/contribs/sandbox/with-clang" sh -c "cd '$top' && STYLE_CACHE='${SANDBOX_CACHE:-$HOME/.cache/slurm-k8s-bridge}/tidy' \
    STYLE_FLAGS='-I$SANDBOX/build' tests/style tidy" > "$SANDBOX/log/tidy-all.log" 2>&1 && said=ok || said="not ok"
sed 's/^/# /' "$SANDBOX/log/tidy-all.log" | tail -n 100
echo "$said 1 - clang-tidy finds nothing in any source"
[[ $said == ok ]]
