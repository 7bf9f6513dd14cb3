// SPDX-License-Identifier: GPL-2.0-or-later
// SbatchTemplate in k8s.conf: the Pod from which the Pods of batch jobs are
// made. It may define volumes, tolerations and annotations of the site. It may
// not define what the job or the agent sets, and it never grants rights. Pure
// functions, except load_batch_template().
#pragma once

#include "common/base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace bridge {

struct BatchTemplate {
    std::string pod; // JSON; no member name is repeated or has escapes
    // The volumes that a job gets only on request.
    std::vector<std::string> choosable{};

    bool operator==(const BatchTemplate &) const = default;
};

// Returns the template of a cluster without SbatchTemplate. It has no volumes.
const BatchTemplate &default_batch_template();

// Code::rejected, with the field and the reason, if the text is not a valid
// template: "spec.hostNetwork: Pods of batch jobs have no privileges".
Result<BatchTemplate> parse_batch_template(std::string_view text);

// Reads and parses a file; the message begins with its name. Code::not_found if
// it cannot be read.
Result<BatchTemplate> load_batch_template(const std::string &path);

// Returns the Pod with only the chosen ones of the choosable volumes.
// Code::rejected, with a message for the user, if a chosen volume is not
// choosable.
Result<std::string> pod_with_volumes(const BatchTemplate &base,
                                     const std::vector<std::string> &chosen);

} // namespace bridge
