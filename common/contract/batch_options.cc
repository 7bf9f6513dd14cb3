// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/contract/batch_options.h"

#include "common/base/text.h"
#include "common/contract/image_name.h"

namespace bridge {

namespace {

constexpr std::size_t max_image = 512;      // bytes
constexpr std::size_t max_variable = 65536; // bytes, of name and value
constexpr std::size_t max_volumes = 4096;   // bytes, of all names
constexpr std::size_t max_label = 63;
constexpr std::size_t max_name = 253;

bool is_of(std::string_view text, std::string_view allowed)
{
    return text.find_first_not_of(allowed) == text.npos;
}

} // namespace

std::string unfit_image_reason(std::string_view image)
{
    if (image.empty())
        return "not be empty";
    if (image.size() > max_image)
        return "have at most " + std::to_string(max_image) + " characters";
    if (!is_image_name(image))
        return "be the name of an image, such as registry.example.com/app:1.2, "
               "in lower-case letters except for the tag";
    return {};
}

std::string unfit_variable_reason(std::string_view entry)
{
    constexpr std::string_view allowed =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    std::string_view name = entry.substr(0, entry.find('='));
    if (name.size() == entry.size() || name.empty() || !is_of(name, allowed) ||
        (name.front() >= '0' && name.front() <= '9'))
        return "be NAME=VALUE with a name of letters, digits and '_'";
    if (name.starts_with("SLURM"))
        return "not set a variable of Slurm";
    if (entry.size() > max_variable)
        return "have at most " + std::to_string(max_variable) + " characters";
    if (entry.contains('\0'))
        return "have no zero byte";
    return {};
}

bool is_label(std::string_view name)
{
    constexpr std::string_view allowed =
        "abcdefghijklmnopqrstuvwxyz0123456789-";
    return !name.empty() && name.size() <= max_label && is_of(name, allowed) &&
           name.front() != '-' && name.back() != '-';
}

std::string unfit_volumes_reason(std::string_view list)
{
    constexpr char words[] = "be names of volumes, separated by commas";
    if (list.size() > max_volumes)
        return "have at most " + std::to_string(max_volumes) + " characters";
    if (list.ends_with(','))
        return words;
    do {
        if (!is_label(next_part(list, ',')))
            return words;
    } while (!list.empty());
    return {};
}

std::string unfit_object_name_reason(std::string_view name)
{
    constexpr std::string_view allowed =
        "abcdefghijklmnopqrstuvwxyz0123456789-.";
    constexpr std::string_view ends = "abcdefghijklmnopqrstuvwxyz0123456789";
    if (name.empty() || name.size() > max_name || !is_of(name, allowed) ||
        !is_of(name.substr(0, 1), ends) ||
        !is_of(name.substr(name.size() - 1), ends))
        return "be a name of lower-case letters, digits, '-' and '.'";
    return {};
}

} // namespace bridge
