// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/release_order.h"

#include "common/base/text.h"
#include "common/contract/worker_names.h"
#include "operator/decide/accounting.h"
#include "operator/decide/json_merge.h"
#include "operator/decide/made.h"
#include "operator/decide/worker_pod.h"

#include <format>
#include <string_view>

namespace bridge::slinky {

namespace {

bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// What is behind the name and before a digest, or "".
std::string_view tag_of(std::string_view image)
{
    image = image.substr(0, image.find('@'));
    std::size_t colon = image.rfind(':');
    std::size_t slash = image.rfind('/');
    if (colon == image.npos || (slash != image.npos && slash > colon))
        return {};
    return image.substr(colon + 1);
}

// A daemon as it runs.
struct Running {
    std::string image;
    std::optional<Release> release;
    bool settled = false; // no Pod of another template is left
};

std::optional<Running> running(const Made *made)
{
    if (!made)
        return std::nullopt;
    auto found = made->meta.annotations.find(names::image_annotation);
    if (found == made->meta.annotations.end())
        return std::nullopt;
    return Running{found->second, release_of(found->second), made->settled};
}

std::optional<Running> running_slurmdbd(const Known &known,
                                        const Unserved &accounting)
{
    return running(find_made(known, {"Accounting", accounting.meta},
                             "Deployment", accounting_name(accounting)));
}

std::optional<Running> running_slurmctld(const Known &known,
                                         const Controller &controller)
{
    return running(find_made(known, {"Controller", controller.meta},
                             "StatefulSet",
                             controller_service(controller.meta.key.name)));
}

Json spec_with(const Json &spec, const char *container,
               const std::string &image)
{
    auto over =
        JsonValue::object({{container, JsonValue::object({{"image", image}})}});
    return read_own(merged(spec, read_own(over.dump())));
}

} // namespace

std::string Release::text() const
{
    return std::format("{:02}.{:02}", year, month);
}

std::optional<Release> release_of(const std::string &image)
{
    std::string_view tag = tag_of(image);
    if (tag.size() < 5 || tag[2] != '.' || (tag.size() > 5 && is_digit(tag[5])))
        return std::nullopt;
    auto year = whole_number<int>(tag.substr(0, 2));
    auto month = whole_number<int>(tag.substr(3, 2));
    if (!year || !month || *month < 1 || *month > 12)
        return std::nullopt;
    return Release{*year, *month};
}

ImageNow slurmdbd_image(const Known &known, const Unserved &accounting)
{
    std::string wished = accounting.spec.text("slurmdbd/image");
    auto release = release_of(wished);
    auto now = running_slurmdbd(known, accounting);
    if (!release || !now || !now->release || *release >= *now->release)
        return {wished, ""};
    return {now->image,
            std::format("slurmdbd stays at {} ({}): release {} cannot read its "
                        "database any more.",
                        now->release->text(), now->image, release->text())};
}

ImageNow slurmctld_image(const Known &known, const Controller &controller)
{
    std::string wished = controller.spec.text("slurmctld/image");
    auto release = release_of(wished);
    auto now = running_slurmctld(known, controller);
    if (!release || !now || !now->release || *release <= *now->release)
        return {wished, ""};
    const Unserved *accounting = accounting_of(known, controller);
    if (!accounting || accounting->spec.flag("external"))
        return {wished, ""};
    auto database = running_slurmdbd(known, *accounting);
    if (!database || !database->release ||
        (database->settled && *database->release >= *release))
        return {wished, ""};
    return {now->image,
            std::format("slurmctld stays at {} ({}) until slurmdbd of "
                        "Accounting {} runs with release {}.",
                        now->release->text(), now->image,
                        accounting->meta.key.name, release->text())};
}

Unserved with_image(const Unserved &accounting, const ImageNow &now)
{
    Unserved made = accounting;
    if (!now.reason.empty())
        made.spec = spec_with(made.spec, "slurmdbd", now.image);
    return made;
}

Controller with_image(const Controller &controller, const ImageNow &now)
{
    Controller made = controller;
    if (!now.reason.empty())
        made.spec = spec_with(made.spec, "slurmctld", now.image);
    return made;
}

std::string slurmd_waits(const Known &known, const Controller &controller,
                         const NodeSet &set)
{
    auto release = release_of(slurmd_image(set));
    auto now = running_slurmctld(known, controller);
    if (controller.external || !release || !now || !now->release ||
        *release <= *now->release)
        return {};
    return std::format("Pods of release {} wait until slurmctld, which is at "
                       "{}, has it.",
                       release->text(), now->release->text());
}

} // namespace bridge::slinky
