// SPDX-License-Identifier: GPL-2.0-or-later
// What every Kube must do, the fake and the real one alike.
#pragma once

#include "agent/calls/kube_api.h"

#include <string>

namespace bridge {

// Makes Pods as users do.
class PodFactory {
  public:
    virtual ~PodFactory() = default;

    // A new Pod that waits for us, as it reads now.
    virtual Pod make(const std::string &name) = 0;
    // A node that exists; number is 0 or 1.
    virtual std::string node(int number) = 0;
    // How many Events the Pod has.
    virtual std::size_t events_of(const Pod &pod) = 0;
};

void kube_contract(Kube &kube, PodFactory &pods);

} // namespace bridge
