// SPDX-License-Identifier: GPL-2.0-or-later
// A World whose Pods t-0, t-1, … are those of a gang.
#pragma once

#include "tests/unit/fakes/world.h"

#include <string>

namespace bridge {

template <class Base = World> struct GangWorld : Base {
    using Base::Base;

    static std::string name(int i) { return "t-" + std::to_string(i); }
    // How many of the first so many are on a node.
    int bound(int count) const
    {
        int sum = 0;
        for (int i = 0; i < count; i++)
            sum += !this->node_of(name(i)).empty();
        return sum;
    }
    void run_all(int count)
    {
        for (int i = 0; i < count; i++)
            this->run_containers(name(i));
    }
    void end_all(int count, int code = 0)
    {
        for (int i = 0; i < count; i++)
            this->end_containers(name(i), code);
    }
    std::string annotation(int i, const char *which) const
    {
        return this->pod(name(i))->annotation(which);
    }
};

} // namespace bridge
