// SPDX-License-Identifier: GPL-2.0-or-later
// The names of container images, as container runtimes read them: what a
// kubelet takes for none it would try to start for ever. Pure.
#pragma once

#include <string_view>

namespace bridge {

// [DOMAIN[:PORT]/]PATH[:TAG][@ALGORITHM:DIGEST], as the reference grammar of
// the distribution project has it.
bool is_image_name(std::string_view name);

} // namespace bridge
