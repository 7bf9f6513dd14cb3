// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/objects/semver.h"

#include "common/base/ascii.h"
#include "common/base/text.h"

#include <algorithm>

namespace bridge {

namespace {

bool is_number(std::string_view text)
{
    return !text.empty() && std::ranges::all_of(text, is_digit);
}

bool is_identifier(std::string_view text)
{
    return !text.empty() && std::ranges::all_of(text, [](char c) {
        return is_letter_or_digit(c) || c == '-';
    });
}

bool has_leading_zero(std::string_view number)
{
    return number.size() > 1 && number.front() == '0';
}

bool read_number(std::string_view text, std::uint64_t &into)
{
    if (!is_number(text) || has_leading_zero(text))
        return false;
    auto number = whole_number<std::uint64_t>(text);
    into = number.value_or(0);
    return number.has_value();
}

bool are_identifiers(std::string_view text, std::vector<std::string> &into)
{
    if (text.ends_with('.'))
        return false;
    do {
        std::string_view part = next_part(text, '.');
        if (!is_identifier(part))
            return false;
        into.emplace_back(part);
    } while (!text.empty());
    return true;
}

// Numbers compare by value and come before words; words compare by their bytes.
std::strong_ordering compare_identifiers(const std::string &a,
                                         const std::string &b)
{
    bool a_number = is_number(a);
    bool b_number = is_number(b);
    if (a_number != b_number)
        return a_number ? std::strong_ordering::less
                        : std::strong_ordering::greater;
    if (a_number && a.size() != b.size()) // no leading zeros
        return a.size() <=> b.size();
    return a <=> b;
}

} // namespace

std::optional<Semver> Semver::parse(std::string_view text)
{
    std::optional<std::string_view> build;
    if (std::size_t plus = text.find('+'); plus != text.npos) {
        build = text.substr(plus + 1);
        text = text.substr(0, plus);
    }
    std::optional<std::string_view> prerelease;
    if (std::size_t dash = text.find('-'); dash != text.npos) {
        prerelease = text.substr(dash + 1);
        text = text.substr(0, dash);
    }
    Semver version;
    if (std::ranges::count(text, '.') != 2 ||
        !read_number(next_part(text, '.'), version.major) ||
        !read_number(next_part(text, '.'), version.minor) ||
        !read_number(text, version.patch))
        return std::nullopt;
    if (prerelease && !are_identifiers(*prerelease, version.prerelease))
        return std::nullopt;
    for (const std::string &part : version.prerelease)
        if (is_number(part) && has_leading_zero(part))
            return std::nullopt;
    std::vector<std::string> ignored;
    if (build && !are_identifiers(*build, ignored))
        return std::nullopt;
    return version;
}

std::strong_ordering Semver::operator<=>(const Semver &other) const
{
    if (auto order = major <=> other.major; order != 0)
        return order;
    if (auto order = minor <=> other.minor; order != 0)
        return order;
    if (auto order = patch <=> other.patch; order != 0)
        return order;
    // 1.0.0-rc comes before 1.0.0.
    if (prerelease.empty() || other.prerelease.empty())
        return other.prerelease.size() <=> prerelease.size();
    return std::lexicographical_compare_three_way(
        prerelease.begin(), prerelease.end(), other.prerelease.begin(),
        other.prerelease.end(), compare_identifiers);
}

bool Semver::operator==(const Semver &other) const
{
    return (*this <=> other) == 0;
}

} // namespace bridge
