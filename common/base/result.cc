// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/result.h"

namespace bridge {

const char *code_name(Code code)
{
    switch (code) {
    case Code::not_found:
        return "not_found";
    case Code::conflict:
        return "conflict";
    case Code::gone:
        return "gone";
    case Code::busy:
        return "busy";
    case Code::uncertain:
        return "uncertain";
    case Code::rejected:
        return "rejected";
    case Code::denied:
        return "denied";
    case Code::newer:
        return "newer";
    case Code::internal:
        return "internal";
    }
    return "internal";
}

} // namespace bridge
