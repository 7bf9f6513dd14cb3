// SPDX-License-Identifier: GPL-2.0-or-later
// SbatchTemplate in k8s.conf: the Pod of which the Pods of batch jobs are made.
// It says what a site has: volumes, tolerations, annotations. What is the job's
// or ours it may not say, and who may do what it never says. Pure, but for
// load().
#pragma once

#include "common/base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace bridge {

struct BatchTemplate {
    std::string pod; // JSON; no name in it comes twice, or has escapes
    // The volumes that a job gets only when it asks for them.
    std::vector<std::string> choosable{};

    bool operator==(const BatchTemplate &) const = default;
};

// What a cluster without SbatchTemplate has: no volume.
const BatchTemplate &default_batch_template();

// Code::rejected, with the field and what is wrong with it, for what is no such
// Pod: "spec.hostNetwork: Pods of batch jobs have no privileges".
Result<BatchTemplate> parse_batch_template(std::string_view text);

// The same with the file's name in front; Code::not_found when it cannot be
// read.
Result<BatchTemplate> load_batch_template(const std::string &path);

// Its Pod, with those of the choosable volumes alone that were chosen.
// Code::rejected, in words for the user, for one that is not choosable.
Result<std::string> pod_with_volumes(const BatchTemplate &base,
                                     const std::vector<std::string> &chosen);

} // namespace bridge
