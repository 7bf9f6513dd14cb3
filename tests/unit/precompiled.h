// SPDX-License-Identifier: GPL-2.0-or-later
// As common/precompiled.h, for the unit tests.
#pragma once

#include "common/precompiled.h"

#include <doctest/doctest.h>
