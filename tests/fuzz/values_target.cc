// SPDX-License-Identifier: GPL-2.0-or-later
// JSON itself, quantities, times, ids, k8s.conf, metrics, and text for a
// terminal.
#include "agent/decide/job_requests.h"
#include "agent/decide/job_values.h"
#include "cli/setup/conf_edit.h"
#include "cli/setup/manifests.h"
#include "cli/setup/slurm_lines.h"
#include "cli/top/top_screen.h"
#include "common/base/display_width.h"
#include "common/base/json.h"
#include "common/base/json_text.h"
#include "common/base/printable.h"
#include "common/base/quantity.h"
#include "common/base/units.h"
#include "common/contract/conf.h"
#include "common/contract/constraints.h"
#include "common/contract/job_ref.h"
#include "common/contract/worker_request.h"
#include "common/kube/token_claims.h"
#include "common/metrics/sample_text.h"
#include "common/slurm/job.h"
#include "common/slurm/reasons.h"
#include "tests/fuzz/targets.h"

#include <algorithm>
#include <chrono>
#include <string>

namespace bridge {

namespace {

constexpr std::int64_t most = std::int64_t{1} << 62;

void json(std::string_view input)
{
    auto document = Json::parse(input);
    if (!document)
        return;
    std::string once = document->dump();
    auto again = Json::parse(once);
    promise(again.has_value());
    promise(again->dump() == once);
    for (const auto &[name, value] : document->members()) {
        promise(document->member(name).present());
        (void)document->at(name).text("x/0/y");
        // The same by its text, where a path can name it.
        auto text = name.contains('/') || name.empty() ? std::nullopt
                                                       : json_text(input, name);
        auto part = text ? Json::parse(*text) : std::unexpected(Error{});
        promise(!text ||
                (part && part->dump() == document->member(name).dump()));
        (void)value.integer();
    }
    for (const Json &item : document->items())
        (void)item.texts();
    // Bytes that are no UTF-8 are left in a parsed document, and in no other.
    promise(Json::parse(JsonValue(document->text()).dump()).has_value());
}

void quantity(std::string_view input)
{
    for (int scale : {-3, 0}) {
        auto n = parse_quantity(input, scale);
        promise(!n || (*n >= 0 && *n <= most));
    }
    auto units = parse_quantity(input, 0);
    auto thousandths = parse_quantity(input, -3);
    if (units && thousandths) // rounded up, by less than one unit
        promise(*units * 1000LL >= *thousandths || *units > most / 1000);
    if (auto cpu = parse_cpu(input))
        promise(whole_cpus_up(*cpu) >= 1 &&
                whole_cpus_up(*cpu) >= whole_cpus_down(*cpu));
    if (auto bytes = parse_bytes(input))
        promise(mebibytes_up(*bytes) >= mebibytes_down(*bytes));
    (void)parse_count(input);
    if (auto exact = Quantity::parse(input)) {
        auto again = Quantity::parse(exact->text());
        promise(again && *again == *exact && again->text() == exact->text());
    }
}

void time_limit(std::string_view input)
{
    auto minutes = parse_time_limit(input);
    if (minutes) // what scontrol prints of it is read back as the same
        promise(parse_time_limit(std::to_string(*minutes)) == minutes);
}

void sluid(std::string_view input)
{
    if (auto parsed = Sluid::parse(input))
        promise(Sluid::parse(parsed->str()) == parsed);
}

void conf(std::string_view input)
{
    auto parsed = parse_conf(input);
    promise(parsed.has_value() || !parsed.error().message.empty());
    if (parsed)
        promise(parsed->workers >= 1 && parsed->workers <= 64 &&
                !parsed->scheduler_names.empty());
}

void gang_tag(std::string_view input)
{
    auto tag = decode_gang_tag(std::string(input));
    if (!tag)
        return;
    promise(!tag->uid.empty() || !tag->script.empty());
    auto again = decode_gang_tag(encode(*tag));
    promise(again.has_value() && again->generation == tag->generation);
}

void terminal(std::string_view input)
{
    std::string text = printable(input);
    promise(std::ranges::none_of(
        text, [](unsigned char c) { return c < ' ' || c == 0x7f; }));
    promise(!text.contains("\xc2\x9b"));
    promise(printable(text) == text);
    for (std::size_t columns : {0, 1, 2, 7})
        promise(display_width(cut_to_width(text, columns)) <= columns &&
                display_width(padded_left(text, columns)) == columns);
    std::string escaped = printable_json(input);
    promise(printable_json(escaped) == escaped);
}

void reason(std::string_view input)
{
    promise(!explain_reason(input).remedy.empty());
    promise(reason_class(reason_class(input)) == reason_class(input));
}

// NAME=VALUE, a wish and what a user wrote there.
void wish(std::string_view input)
{
    std::size_t equals = input.find('=');
    if (equals == input.npos)
        return;
    TextMap annotations{{"slurmk8s/" + std::string(input.substr(0, equals)),
                         std::string(input.substr(equals + 1))}};
    Wishes wishes = wishes_in(annotations);
    JobDescription job;
    job.cpus_per_task = 2;
    job.memory_per_node = MebiBytes{100};
    std::string reason = apply_wishes(job, wishes, {});
    promise(reason.size() < 1000 && printable(reason) == reason);
    promise(printable(wishes_text(wishes)) == wishes_text(wishes));
    // Whatever it is, the job covers its Pod and keeps to nodes of ours.
    promise(job.cpus_per_task >= 2 && job.memory_per_node >= MebiBytes{100});
    promise(job.min_nodes <= job.max_nodes && job.max_nodes == 1);
    if (reason.empty()) {
        std::string joined = join_constraints(job.features, {"k8s"});
        promise(joined == "k8s" || joined.ends_with("&k8s"));
        promise(std::ranges::count(joined, '(') ==
                std::ranges::count(joined, ')'));
        promise(!joined.contains('[') && !joined.contains('*'));
    }
}

void token(std::string_view input)
{
    using std::chrono::sys_days;
    TokenClaims claims = token_claims(input);
    for (auto time : {claims.issued, claims.expires})
        promise(!time || (*time >= sys_days{} &&
                          *time < sys_days{std::chrono::year{10000} /
                                           std::chrono::January / 1}));
}

// What slurmk8s setup reads: k8s.conf and slurm.conf as they are, and what
// kubectl prints.
void setup(std::string_view input)
{
    std::string edited = with_conf_value(input, "Partition", "k8s");
    promise(conf_value(edited, "Partition") == "k8s");
    promise(with_conf_value(edited, "Partition", "k8s") == edited);

    SlurmConfText conf = read_slurm_conf(input);
    promise(conf.lines.empty() == conf.keys.empty());
    std::string text = include_text(input, conf.lines);
    promise(split_lines(conf.lines, read_slurm_conf(text)).to_change.empty());

    auto ids = object_ids(input);
    promise(parse_ids(text_of(ids)) == ids);
    promise(dropped(ids, ids).empty());
    promise(Json::parse(list_of(ids)).has_value());
    (void)parse_ids(input);
    (void)components_of(input);
}

// What the operator and the agent read of each other on a slurmd Pod.
void worker_request(std::string_view input)
{
    auto request = read_worker_request(input);
    promise(!request || (request->number > 0 &&
                         read_worker_request(request->text()) == request));
    auto answer = read_drain_answer(input);
    if (!answer)
        return;
    promise(!answer->uid.empty() &&
            read_drain_answer(answer->text()) == answer);
    constexpr std::chrono::sys_seconds now{std::chrono::seconds(1800000000)};
    promise(!is_recent(*answer, now) ||
            (answer->read >= 1799999970 && answer->read <= 1800000030));
}

// What slurmk8s top reads at the agent's address, and shows.
void metrics(std::string_view input)
{
    auto samples = Samples::parse(input);
    promise(samples || samples.error().message.ends_with("metric") ||
            samples.error().message.ends_with("metrics"));
    if (!samples)
        return;
    TopHistory counts;
    if (auto now = top_counts(*samples))
        counts.add(*now);
    constexpr std::chrono::sys_seconds now{std::chrono::seconds(1700000000)};
    TopView view = top_view({*samples, *samples, {}}, counts, now);
    for (ScreenSize size : {ScreenSize{1, 5}, {40, 24}, {0, 0}}) {
        auto lines = top_screen(view, size, {now, {}, {}});
        promise(size.rows == 0 || lines.size() <= size.rows);
        for (const ScreenLine &line : lines)
            promise(printable(line.text) == line.text &&
                    (size.columns == 0 ||
                     display_width(line.text) <= size.columns));
    }
}

constexpr FuzzTarget targets[] = {{"json", json},
                                  {"quantity", quantity},
                                  {"time_limit", time_limit},
                                  {"sluid", sluid},
                                  {"conf", conf},
                                  {"gang_tag", gang_tag},
                                  {"terminal", terminal},
                                  {"reason", reason},
                                  {"wish", wish},
                                  {"token", token},
                                  {"setup", setup},
                                  {"worker_request", worker_request},
                                  {"metrics", metrics}};

} // namespace

std::span<const FuzzTarget> value_targets()
{
    return targets;
}

} // namespace bridge
