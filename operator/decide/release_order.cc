// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/release_order.h"

#include "common/base/text.h"
#include "common/contract/worker_names.h"
#include "operator/decide/accounting.h"
#include "operator/decide/controller_pod.h"
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

// Of a text that begins with it.
std::optional<Release> leading_release(std::string_view text)
{
    if (text.size() < 5 || text[2] != '.' ||
        (text.size() > 5 && is_digit(text[5])))
        return std::nullopt;
    auto year = whole_number<int>(text.substr(0, 2));
    auto month = whole_number<int>(text.substr(3, 2));
    if (!year || !month || *month < 1 || *month > 12)
        return std::nullopt;
    return Release{*year, *month};
}

// The image of this container in the template that is applied, or "".
std::string image_in(const Made *made, const char *container)
{
    if (!made)
        return {};
    auto found = made->images.find(container);
    return found == made->images.end() ? std::string() : found->second;
}

const Made *slurmdbd_made(const Known &known, const Unserved &accounting)
{
    return find_made(known, {"Accounting", accounting.meta}, "Deployment",
                     accounting_name(accounting));
}

const Made *slurmctld_made(const Known &known, const Controller &controller)
{
    return find_made(known, {"Controller", controller.meta}, "StatefulSet",
                     controller_service(controller.meta.key.name));
}

// The image of slurmctld's Pod, which may have an older one than its template.
std::string slurmctld_runs(const Known &known, const Controller &controller)
{
    const Daemon *pod = slurmctld_pod(known, controller);
    if (pod && !pod->image.empty())
        return pod->image;
    return image_in(slurmctld_made(known, controller), slurmctld_app);
}

std::string stays(const char *daemon, const std::string &image,
                  const std::string &why)
{
    return std::format("{} stays at {} ({}){}", daemon,
                       release_of(image).value_or(Release{}).text(), image,
                       why);
}

// Why slurmctld goes on with the image that its template has, or "".
std::string slurmctld_waits(const Known &known, const Controller &controller,
                            const std::string &image)
{
    auto wished = release_of(controller.spec.text("slurmctld/image"));
    auto now = release_of(image);
    if (!wished || !now || *wished == *now)
        return {};
    if (*wished < *now)
        return stays(slurmctld_app, image,
                     std::format(": release {} cannot read its state any more.",
                                 wished->text()));
    const Unserved *accounting = accounting_of(known, controller);
    if (!accounting || accounting->spec.flag("external"))
        return {};
    const Made *database = slurmdbd_made(known, *accounting);
    auto has = release_of(image_in(database, slurmdbd_app));
    if (!has || (database->settled && *has >= *wished))
        return {};
    return stays(slurmctld_app, image,
                 std::format(" until slurmdbd of Accounting {} runs with "
                             "release {}.",
                             accounting->meta.key.name, wished->text()));
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
    constexpr std::string_view mark = "slurm";
    std::string_view tag = tag_of(image);
    if (auto release = leading_release(tag))
        return release;
    std::size_t at = tag.find(mark);
    return at == tag.npos ? std::nullopt
                          : leading_release(tag.substr(at + mark.size()));
}

ImageNow slurmdbd_image(const Known &known, const Unserved &accounting)
{
    std::string wished = accounting.spec.text("slurmdbd/image");
    std::string image =
        image_in(slurmdbd_made(known, accounting), slurmdbd_app);
    auto release = release_of(wished);
    auto now = release_of(image);
    if (!release || !now || *release >= *now)
        return {wished, ""};
    return {image,
            stays(slurmdbd_app, image,
                  std::format(": release {} cannot read its database any more.",
                              release->text()))};
}

ControllerImages controller_images(const Known &known,
                                   const Controller &controller)
{
    ControllerImages wished{controller.spec.text("slurmctld/image"),
                            agent_image(known, controller),
                            {}};
    const Made *made = slurmctld_made(known, controller);
    std::string before = image_in(made, slurmk8sd_app);
    std::string image = image_in(made, slurmctld_app);
    if (std::string why = slurmctld_waits(known, controller, image);
        !why.empty())
        return {image, before, why};
    auto release = release_of(wished.slurmctld);
    auto newer = release_of(wished.slurmk8sd);
    auto older = release_of(before);
    if (release && newer && older && *newer > *release && *older <= *release)
        return {wished.slurmctld, before,
                stays(slurmk8sd_app, before,
                      std::format(" until slurmctld has release {}.",
                                  newer->text()))};
    return wished;
}

Unserved with_image(const Unserved &accounting, const ImageNow &now)
{
    Unserved made = accounting;
    if (!now.reason.empty())
        made.spec = spec_with(made.spec, slurmdbd_app, now.image);
    return made;
}

Controller with_images(const Controller &controller,
                       const ControllerImages &now)
{
    Controller made = controller;
    if (now.reason.empty())
        return made;
    made.spec = spec_with(made.spec, slurmctld_app, now.slurmctld);
    made.meta.annotations[names::agent_image_annotation] = now.slurmk8sd;
    return made;
}

std::string slurmd_waits(const Known &known, const Controller &controller,
                         const NodeSet &set)
{
    auto release = release_of(slurmd_image(set));
    auto now = release_of(slurmctld_runs(known, controller));
    if (controller.external || !release || !now || *release <= *now)
        return {};
    return std::format("Pods of release {} wait until slurmctld, which is at "
                       "{}, has it.",
                       release->text(), now->text());
}

} // namespace bridge::slinky
