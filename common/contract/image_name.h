// SPDX-License-Identifier: GPL-2.0-or-later
// Checks the names of container images as container runtimes read them. A
// kubelet would retry a Pod with an invalid name for ever. Pure.
#pragma once

#include <string_view>

namespace bridge {

// Tells whether name is [DOMAIN[:PORT]/]PATH[:TAG][@ALGORITHM:DIGEST], by the
// reference grammar of the distribution project.
bool is_image_name(std::string_view name);

} // namespace bridge
