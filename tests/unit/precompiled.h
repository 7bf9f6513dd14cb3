// SPDX-License-Identifier: GPL-2.0-or-later
// As common/base/precompiled.h, for the unit tests.
#pragma once

#include "common/base/precompiled.h"

#include <doctest/doctest.h>
