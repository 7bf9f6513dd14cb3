// SPDX-License-Identifier: GPL-2.0-or-later
// How an object ends that the operator holds by a finalizer of its own: it
// stays until the Pods that need it are gone. Pure.
#pragma once

#include "operator/decide/objects.h"
#include "operator/decide/step.h"

#include <string>
#include <vector>

namespace bridge::slinky {

// What is held, and by which finalizer. Refers to the object.
struct Holdable {
    Holdable(const NodeSet &set);
    Holdable(const Controller &controller);

    const char *kind;
    const char *plural;
    const Meta &meta;
    const std::vector<std::string> &finalizers;
    const char *finalizer;
};

bool is_held(const Holdable &object);
// These replace all finalizers, if nobody has changed the object meanwhile.
Step hold(const Holdable &object);
Step let_go(const Holdable &object);

// Whether its Pods are deleted without asking. The annotation counts only
// together with the deletion.
bool goes_at_once(const Meta &meta);

} // namespace bridge::slinky
