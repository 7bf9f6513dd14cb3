// SPDX-License-Identifier: GPL-2.0-or-later
// Accounting: slurmdbd as a Pod, for a database that the site has. The operator
// reads no Secret: slurmdbd gets the database's password as a variable, which
// the client library of MariaDB takes where slurmdbd.conf has none. Pure.
#pragma once

#include "operator/decide/decide.h"
#include "operator/decide/objects.h"

#include <string>
#include <vector>

namespace bridge::slinky {

// The name of what is made for it.
std::string accounting_name(const Unserved &accounting);

// The Accounting that the Controller names, or nullptr.
const Unserved *accounting_of(const Known &known, const Controller &controller);

// The lines of slurm.conf, or "" without an Accounting.
std::string accounting_conf(const Known &known, const Controller &controller);

// Why the first slurmctld of this Controller cannot start yet: a sentence, or
// "". slurmctld is fatal if slurmdbd does not answer at its first start, and
// goes on without it later.
std::string accounting_waits(const Known &known, const Controller &controller);

// The whole of slurmdbd.conf, without a password.
std::string slurmdbd_conf(const Unserved &accounting);

std::vector<Step> decide_accounting(const Known &known,
                                    const Unserved &accounting,
                                    const Failures &failures, Now now);

} // namespace bridge::slinky
