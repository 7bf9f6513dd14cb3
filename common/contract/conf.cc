// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/contract/conf.h"

#include "common/base/ascii.h"
#include "common/base/conf_lines.h"
#include "common/base/text.h"
#include "common/base/units.h"
#include "common/contract/batch_options.h"
#include "common/contract/session_conf.h"

#include <algorithm>
#include <array>

namespace bridge {

namespace {

using Setter = Result<> (*)(Conf &, std::string_view);

Result<> bad(std::string reason)
{
    return fail(Code::rejected, std::move(reason));
}

template <std::string Conf::*field>
Result<> set_text(Conf &conf, std::string_view value)
{
    conf.*field = value;
    return {};
}

template <std::string Conf::*field>
Result<> set_path(Conf &conf, std::string_view value)
{
    auto path = absolute_path(value);
    if (!path)
        return std::unexpected(path.error());
    conf.*field = *path;
    return {};
}

// Sets the name of a Kubernetes object; it becomes part of a URL.
template <std::string Conf::*field>
Result<> set_object_name(Conf &conf, std::string_view value)
{
    constexpr std::string_view allowed =
        "abcdefghijklmnopqrstuvwxyz0123456789-.";
    if (value.size() > 253 || value.find_first_not_of(allowed) != value.npos ||
        value.starts_with('.') || value.ends_with('.'))
        return bad("must consist of lower-case letters, digits, '-' and '.'");
    conf.*field = value;
    return {};
}

template <bool Conf::*field>
Result<> set_flag(Conf &conf, std::string_view value)
{
    auto said = yes_or_no(value);
    if (!said)
        return std::unexpected(said.error());
    conf.*field = *said;
    return {};
}

Result<unsigned> number(std::string_view value, unsigned low, unsigned high)
{
    auto n = whole_number<unsigned>(value);
    if (!n || *n < low || *n > high)
        return fail(Code::rejected, "must be a whole number from " +
                                        std::to_string(low) + " to " +
                                        std::to_string(high));
    return *n;
}

template <auto field, unsigned low, unsigned high>
Result<> set_seconds(Conf &conf, std::string_view value)
{
    auto n = number(value, low, high);
    if (!n)
        return std::unexpected(n.error());
    conf.*field = std::chrono::seconds(*n);
    return {};
}

template <auto field, unsigned low, unsigned high>
Result<> set_number(Conf &conf, std::string_view value)
{
    auto n = number(value, low, high);
    if (!n)
        return std::unexpected(n.error());
    conf.*field = *n;
    return {};
}

Result<> set_server(Conf &conf, std::string_view value)
{
    constexpr std::string_view scheme = "https://";
    while (value.ends_with('/') && value.size() > scheme.size())
        value.remove_suffix(1);
    if (!value.starts_with(scheme) || value == scheme)
        return bad("must be an https:// URL: tokens never travel in the clear");
    conf.kube_api_server = value;
    return {};
}

// Returns a list of names of Kubernetes objects, without duplicates.
Result<std::vector<std::string>> names_in(std::string_view value)
{
    constexpr std::string_view allowed =
        "abcdefghijklmnopqrstuvwxyz0123456789-.";
    std::vector<std::string> names;
    for (std::string_view part : all_parts(value, ',')) {
        std::string_view name = trim(part);
        if (name.empty() || name.size() > 253 ||
            name.find_first_not_of(allowed) != name.npos)
            return fail(Code::rejected,
                        "must be names of lower-case letters, digits, '-' and "
                        "'.', separated by commas");
        if (std::ranges::contains(names, name))
            return fail(Code::rejected,
                        "names \"" + std::string(name) + "\" twice");
        names.emplace_back(name);
    }
    return names;
}

Result<> set_scheduler_names(Conf &conf, std::string_view value)
{
    auto names = names_in(value);
    if (!names)
        return std::unexpected(names.error());
    if (std::ranges::contains(*names, "default-scheduler"))
        return bad("must not name the default scheduler: another program "
                   "already schedules its Pods");
    conf.scheduler_names = std::move(*names);
    return {};
}

// "*" stands for all namespaces.
template <std::vector<std::string> Conf::*field>
Result<> set_namespaces(Conf &conf, std::string_view value)
{
    if (value == "*") {
        conf.*field = {"*"};
        return {};
    }
    auto names = names_in(value);
    if (!names)
        return std::unexpected(names.error());
    conf.*field = std::move(*names);
    return {};
}

template <std::vector<std::string> Conf::*field>
Result<> set_names(Conf &conf, std::string_view value)
{
    auto names = names_in(value);
    if (!names)
        return std::unexpected(names.error());
    conf.*field = std::move(*names);
    return {};
}

Result<> set_default_image(Conf &conf, std::string_view value)
{
    std::size_t blank = value.find_first_of(" \t");
    std::string partition(value.substr(0, blank));
    if (blank == value.npos)
        return bad("must be PARTITION IMAGE");
    std::string image(trim(value.substr(blank)));
    if (std::string reason = unfit_image_reason(image); !reason.empty())
        return bad("must " + reason);
    if (!conf.default_images.emplace(partition, image).second)
        return bad("names partition \"" + partition + "\" twice");
    return {};
}

Result<> set_burst(Conf &conf, std::string_view value)
{
    return add_burst_rule(conf.bursts, value);
}

Result<> set_priority_class(Conf &conf, std::string_view value)
{
    return add_priority_class(conf.priority_classes, value);
}

Result<> set_node_pool(Conf &conf, std::string_view value)
{
    return add_node_pool(conf.node_pools, value);
}

Result<> set_feature_labels(Conf &conf, std::string_view value)
{
    auto labels = parse_feature_labels(value);
    if (!labels)
        return std::unexpected(labels.error());
    conf.feature_labels = std::move(*labels);
    return {};
}

// Slurm either numbers the units of a GRES or only counts them, so one GRES
// cannot be in both lists. Slurm's own CPUs are not a GRES and may be in both.
Result<> check_gres_apart(const Conf &conf)
{
    for (const CapacityGres &counted : conf.capacity_gres)
        if (counted.gres != cpu_gres &&
            std::ranges::contains(conf.device_gres, counted.gres,
                                  &DeviceGres::gres))
            return bad("has GRES " + counted.gres +
                       ", which DeviceGres and DeviceCapacity cannot both "
                       "count");
    return {};
}

Result<> set_device_gres(Conf &conf, std::string_view value)
{
    auto list = parse_device_gres(value);
    if (!list)
        return std::unexpected(list.error());
    conf.device_gres = std::move(*list);
    return check_gres_apart(conf);
}

Result<> set_capacity_gres(Conf &conf, std::string_view value)
{
    auto list = parse_capacity_gres(value);
    if (!list)
        return std::unexpected(list.error());
    conf.capacity_gres = std::move(*list);
    return check_gres_apart(conf);
}

Result<> set_log_level(Conf &conf, std::string_view value)
{
    constexpr std::array<std::string_view, 4> names = {"error", "warning",
                                                       "info", "debug"};
    auto found = std::ranges::find(names, lower_case(value));
    if (found == names.end())
        return bad("must be error, warning, info or debug");
    conf.log_level = static_cast<LogLevel>(found - names.begin());
    return {};
}

struct Key {
    std::string_view name;
    Setter set;
    bool repeats = false; // may be on several lines
};

constexpr std::array keys = {
    Key{"KubeApiServer", set_server},
    Key{"KubeCaFile", set_path<&Conf::kube_ca_file>},
    Key{"KubeTokenFile", set_path<&Conf::kube_token_file>},
    Key{"SchedulerName", set_scheduler_names},
    Key{"DefaultUser", set_text<&Conf::default_user>},
    Key{"AllowRoot", set_flag<&Conf::allow_root>},
    Key{"ChooseUser", set_namespaces<&Conf::choose_user>},
    Key{"ChoosePriority", set_namespaces<&Conf::choose_priority>},
    Key{"PriorityClass", set_priority_class, true},
    Key{"MaxPendingJobs", set_number<&Conf::max_pending_jobs, 0, 10000000>},
    Key{"MaxPendingJobsPerNamespace",
        set_number<&Conf::max_pending_in_namespace, 0, 10000000>},
    Key{"MaxNodeSelectionsPerNamespace",
        set_number<&Conf::max_selections_in_namespace, 1, 400>},
    Key{"MaxGangSize", set_number<&Conf::max_gang_size, 1, 65533>},
    Key{"MaxPadding", set_number<&Conf::max_padding, 0, 100>},
    Key{"Partition", set_text<&Conf::partition>},
    Key{"NodeAddress", set_text<&Conf::node_address>},
    Key{"NodePool", set_node_pool, true},
    Key{"FeatureLabels", set_feature_labels},
    Key{"DeviceGres", set_device_gres},
    Key{"DeviceCapacity", set_capacity_gres},
    Key{"KubeletDir", set_path<&Conf::kubelet_dir>},
    Key{"NodeLabelsFile", set_path<&Conf::labels_file>},
    Key{"Socket", set_path<&Conf::socket_path>},
    Key{"WebAddress", set_text<&Conf::web_address>},
    Key{"ResyncInterval", set_seconds<&Conf::resync_interval, 5, 86400>},
    Key{"ReasonInterval", set_seconds<&Conf::reason_interval, 1, 3600>},
    Key{"OrphanGrace", set_seconds<&Conf::orphan_grace, 0, 86400>},
    Key{"BindTimeout", set_seconds<&Conf::bind_timeout, 10, 86400>},
    Key{"RejoinGrace", set_seconds<&Conf::rejoin_grace, 0, 3600>},
    Key{"MaxGracePeriod",
        set_seconds<&Conf::max_grace_period, 1, max_grace_period>},
    Key{"FeatureLinger", set_seconds<&Conf::feature_linger, 1, 86400>},
    Key{"GateTimeout", set_seconds<&Conf::gate_timeout, 1, 86400>},
    Key{"NodeLostTimeout", set_seconds<&Conf::node_lost_timeout, 10, 86400>},
    Key{"TaintNodes", set_flag<&Conf::taint_nodes>},
    Key{"CordonNodes", set_flag<&Conf::cordon_nodes>},
    Key{"MetricsInterval", set_seconds<&Conf::metrics_interval, 0, 3600>},
    Key{"MetricsUsers", set_flag<&Conf::metrics_users>},
    Key{"MetricsTokenFile", set_path<&Conf::metrics_token_file>},
    Key{"ResizeDelay", set_seconds<&Conf::resize_delay, 0, 86400>},
    Key{"NodeInterval", set_seconds<&Conf::node_interval, 1, 3600>},
    Key{"LeaseNamespace", set_object_name<&Conf::lease_namespace>},
    Key{"LeaseName", set_object_name<&Conf::lease_name>},
    Key{"SbatchNamespace", set_object_name<&Conf::batch_namespace>},
    Key{"SbatchTemplate", set_path<&Conf::batch_template>},
    Key{"SbatchChooseNamespace", set_names<&Conf::batch_namespaces>},
    Key{"SbatchChooseServiceAccount", set_names<&Conf::batch_accounts>},
    Key{"DefaultImage", set_default_image, true},
    Key{"Burst", set_burst, true},
    Key{"ClusterDomain", set_object_name<&Conf::cluster_domain>},
    Key{"SchedulePods", set_flag<&Conf::schedule_pods>},
    Key{"WorkerNamespace", set_names<&Conf::worker_namespaces>},
    Key{"WorkerController", set_object_name<&Conf::worker_controller>},
    Key{"ConfigHashFile", set_path<&Conf::config_hash_file>},
    Key{"MaxScriptSize", set_number<&Conf::max_script_size, 1024, 900000>},
    Key{"Workers", set_number<&Conf::workers, 1, 64>},
    Key{"LogLevel", set_log_level},
};

// Applies one line. For the keys of session_conf.h it only checks that they
// occur once and have a value.
Result<> apply_setting(Conf &conf, std::vector<std::string_view> &seen,
                       std::string_view name, std::string_view value)
{
    const Key *key = find_key(keys, name);
    std::string_view known = key ? key->name : session_key(name);
    if (known.empty())
        return bad("unknown key \"" + std::string(name.substr(0, 64)) +
                   "\", see k8s.conf(5)");
    if (!(key && key->repeats) && std::ranges::contains(seen, known))
        return bad(std::string(known) + " is given twice");
    seen.push_back(known);
    if (value.empty())
        return bad(std::string(known) + " has no value");
    if (!key)
        return {};
    if (auto set = key->set(conf, value); !set)
        return bad(std::string(known) + " " + set.error().message);
    return {};
}

// An agent that serves workers only needs some to serve, and makes no Pods.
Result<> check_purpose(const Conf &conf)
{
    if (conf.schedule_pods)
        return {};
    if (conf.worker_namespaces.empty())
        return bad("SchedulePods=no leaves nothing to do: say with "
                   "WorkerNamespace whose workers are served");
    if (!conf.batch_namespace.empty())
        return bad("SbatchNamespace makes Pods of batch jobs, which "
                   "SchedulePods=no forbids: leave one of them out");
    return {};
}

} // namespace

Result<Conf> parse_conf(std::string_view text)
{
    Conf conf;
    std::vector<std::string_view> seen;
    auto read = for_each_setting(
        text, [&](std::string_view name, std::string_view value) {
            return apply_setting(conf, seen, name, value);
        });
    if (!read)
        return std::unexpected(read.error());
    if (auto sessions = parse_session_conf(text); !sessions)
        return std::unexpected(sessions.error());
    if (auto purpose = check_purpose(conf); !purpose)
        return std::unexpected(purpose.error());
    return conf;
}

KnownConf load_known_conf(const std::string &path)
{
    KnownConf known;
    auto text = read_conf_file(path);
    if (!text) {
        known.trouble = text.error().message;
        return known;
    }
    auto strict = parse_conf(*text);
    if (strict) {
        known.conf = std::move(*strict);
        return known;
    }
    known.trouble = path + ": " + strict.error().message;
    std::vector<std::string_view> seen;
    (void)for_each_setting(
        *text, [&](std::string_view name, std::string_view value) -> Result<> {
            (void)apply_setting(known.conf, seen, name, value);
            return {};
        });
    return known;
}

Result<Conf> load_conf(const std::string &path)
{
    auto text = read_conf_file(path);
    if (!text)
        return std::unexpected(text.error());
    auto conf = parse_conf(*text);
    if (!conf)
        return fail(conf.error(), path);
    return conf;
}

Result<> read_batch_template(Conf &conf)
{
    if (conf.batch_template.empty())
        return {};
    auto base = load_batch_template(conf.batch_template);
    if (!base)
        return fail(base.error(), "SbatchTemplate");
    conf.batch_pod = std::move(*base);
    return {};
}

bool is_batch_namespace(const Conf &conf, std::string_view ns)
{
    return !conf.batch_namespace.empty() &&
           (ns == conf.batch_namespace ||
            std::ranges::contains(conf.batch_namespaces, ns));
}

} // namespace bridge
