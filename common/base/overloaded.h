// SPDX-License-Identifier: GPL-2.0-or-later
// Makes one visitor of several lambdas, for std::visit. A lambda for each
// alternative, and none for `auto`, makes the compiler ask for another one
// where an alternative is added.
#pragma once

namespace bridge {

template <class... Cases> struct Overloaded : Cases... {
    using Cases::operator()...;
};

} // namespace bridge
