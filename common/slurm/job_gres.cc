// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/slurm/job_gres.h"

#include "common/base/text.h"

#include <format>

namespace bridge {

namespace {

std::unexpected<Error> bad(std::string_view text)
{
    return fail(Code::rejected,
                std::format("\"{}\" is not a list of GRES", text));
}

// Parses "0,2-3", as Slurm's bit_fmt() writes it.
bool read_indexes(std::string_view list, std::vector<std::uint32_t> &into)
{
    while (!list.empty()) {
        std::string_view last = next_part(list, ',');
        std::string_view first = next_part(last, '-');
        auto from = whole_number<std::uint32_t>(first);
        auto to = last.empty() ? from : whole_number<std::uint32_t>(last);
        if (!from || !to || *to < *from || *to > max_gres_index ||
            (!into.empty() && *from <= into.back()))
            return false;
        for (std::uint32_t i = *from; i <= *to; i++)
            into.push_back(i);
    }
    return true;
}

// Parses "NAME:TYPE:COUNT". The type may be missing; the count is missing if
// "(CNT:…)" follows.
bool read_head(std::string_view head, bool counted, JobGres &gres)
{
    gres.gres = next_part(head, ':');
    if (counted) {
        std::size_t colon = head.rfind(':');
        auto count = whole_number<std::uint64_t>(
            head.substr(colon == head.npos ? 0 : colon + 1));
        if (!count)
            return false;
        gres.count = *count;
        head = colon == head.npos ? std::string_view{} : head.substr(0, colon);
    }
    gres.type = head;
    return !gres.gres.empty() && !gres.type.contains(':');
}

// Parses one entry: head is the part before the parenthesis, details the part
// inside.
bool read_record(std::string_view head, std::string_view details, JobGres &gres)
{
    if (details.starts_with("CNT:")) {
        auto count = whole_number<std::uint64_t>(details.substr(4));
        gres.count = count.value_or(0);
        return count && read_head(head, false, gres);
    }
    if (!read_head(head, true, gres))
        return false;
    if (!details.starts_with("IDX:")) // shares of each device: "0/2,1/2"
        return true;
    return read_indexes(details.substr(4), gres.indexes) &&
           gres.indexes.size() == gres.count;
}

} // namespace

Result<std::vector<JobGres>> parse_job_gres(std::string_view text)
{
    std::vector<JobGres> all;
    for (std::string_view rest = text; !rest.empty();) {
        std::size_t open = rest.find('(');
        std::size_t close = rest.find(')', open);
        if (open == rest.npos || close == rest.npos)
            return bad(text);
        JobGres gres;
        if (!read_record(rest.substr(0, open),
                         rest.substr(open + 1, close - open - 1), gres))
            return bad(text);
        all.push_back(std::move(gres));
        rest = rest.substr(close + 1);
        if (!rest.empty() && (rest.front() != ',' || rest.size() == 1))
            return bad(text);
        if (!rest.empty())
            rest.remove_prefix(1);
    }
    return all;
}

} // namespace bridge
