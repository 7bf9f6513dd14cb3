// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/conf.h"

#include "common/batch_options.h"
#include "common/text.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <sstream>

namespace bridge {

namespace {

using Setter = Result<> (*)(Conf &, std::string_view);

Result<> bad(std::string why)
{
    return fail(Code::rejected, std::move(why));
}

std::string lower(std::string_view text)
{
    std::string out(text);
    for (char &c : out)
        if (c >= 'A' && c <= 'Z')
            c = static_cast<char>(c - 'A' + 'a');
    return out;
}

std::string_view trim(std::string_view text)
{
    constexpr std::string_view blank = " \t\r";
    std::size_t first = text.find_first_not_of(blank);
    if (first == text.npos)
        return {};
    return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

// Also what a C string would end at.
bool has_control_character(std::string_view text)
{
    return std::ranges::any_of(text, [](char c) {
        return (c >= 0 && c < ' ' && c != '\t') || c == 0x7f;
    });
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
    if (!value.starts_with('/'))
        return bad("must be an absolute path");
    conf.*field = value;
    return {};
}

// What Kubernetes calls an object: the name goes into a URL.
template <std::string Conf::*field>
Result<> set_object_name(Conf &conf, std::string_view value)
{
    constexpr std::string_view allowed =
        "abcdefghijklmnopqrstuvwxyz0123456789-.";
    if (value.size() > 253 || value.find_first_not_of(allowed) != value.npos ||
        value.starts_with('.') || value.ends_with('.'))
        return bad("must be of lower-case letters, digits, '-' and '.'");
    conf.*field = value;
    return {};
}

template <bool Conf::*field>
Result<> set_flag(Conf &conf, std::string_view value)
{
    std::string word = lower(value);
    if (word != "yes" && word != "no")
        return bad("must be yes or no");
    conf.*field = word == "yes";
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

template <std::chrono::seconds Conf::*field, unsigned low, unsigned high>
Result<> set_seconds(Conf &conf, std::string_view value)
{
    auto n = number(value, low, high);
    if (!n)
        return std::unexpected(n.error());
    conf.*field = std::chrono::seconds(*n);
    return {};
}

template <unsigned Conf::*field, unsigned low, unsigned high>
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

// Names of Kubernetes objects, each once.
Result<std::vector<std::string>> names_in(std::string_view value)
{
    constexpr std::string_view allowed =
        "abcdefghijklmnopqrstuvwxyz0123456789-.";
    std::vector<std::string> names;
    for (;;) {
        std::size_t comma = value.find(',');
        std::string_view name = trim(value.substr(0, comma));
        if (name.empty() || name.size() > 253 ||
            name.find_first_not_of(allowed) != name.npos)
            return fail(Code::rejected,
                        "must be names of lower-case letters, digits, '-' and "
                        "'.', separated by commas");
        if (std::ranges::contains(names, name))
            return fail(Code::rejected,
                        "names \"" + std::string(name) + "\" twice");
        names.emplace_back(name);
        if (comma == value.npos)
            return names;
        value.remove_prefix(comma + 1);
    }
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

// "*" is every namespace.
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
    if (std::string why = objection_to_image(image); !why.empty())
        return bad("must " + why);
    if (!conf.default_images.emplace(partition, image).second)
        return bad("names partition \"" + partition + "\" twice");
    return {};
}

Result<> set_priority_class(Conf &conf, std::string_view value)
{
    return add_priority_class(conf.priority_classes, value);
}

Result<> set_feature_labels(Conf &conf, std::string_view value)
{
    auto labels = parse_feature_labels(value);
    if (!labels)
        return std::unexpected(labels.error());
    conf.feature_labels = std::move(*labels);
    return {};
}

Result<> set_device_gres(Conf &conf, std::string_view value)
{
    auto list = parse_device_gres(value);
    if (!list)
        return std::unexpected(list.error());
    conf.device_gres = std::move(*list);
    return {};
}

Result<> set_log_level(Conf &conf, std::string_view value)
{
    constexpr std::array<std::string_view, 4> names = {"error", "warning",
                                                       "info", "debug"};
    auto found = std::ranges::find(names, lower(value));
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
    Key{"FeatureLabels", set_feature_labels},
    Key{"DeviceGres", set_device_gres},
    Key{"KubeletDir", set_path<&Conf::kubelet_dir>},
    Key{"NodeLabelsFile", set_path<&Conf::labels_file>},
    Key{"Socket", set_path<&Conf::socket_path>},
    Key{"WebAddress", set_text<&Conf::web_address>},
    Key{"ResyncInterval", set_seconds<&Conf::resync_interval, 5, 86400>},
    Key{"ReasonInterval", set_seconds<&Conf::reason_interval, 1, 3600>},
    Key{"OrphanGrace", set_seconds<&Conf::orphan_grace, 0, 86400>},
    Key{"BindTimeout", set_seconds<&Conf::bind_timeout, 10, 86400>},
    Key{"RejoinGrace", set_seconds<&Conf::rejoin_grace, 0, 3600>},
    Key{"FeatureLinger", set_seconds<&Conf::feature_linger, 1, 86400>},
    Key{"GateTimeout", set_seconds<&Conf::gate_timeout, 1, 86400>},
    Key{"NodeLostTimeout", set_seconds<&Conf::node_lost_timeout, 10, 86400>},
    Key{"TaintNodes", set_flag<&Conf::taint_nodes>},
    Key{"CordonNodes", set_flag<&Conf::cordon_nodes>},
    Key{"ResizeDelay", set_seconds<&Conf::resize_delay, 0, 86400>},
    Key{"NodeInterval", set_seconds<&Conf::node_interval, 1, 3600>},
    Key{"LeaseNamespace", set_object_name<&Conf::lease_namespace>},
    Key{"LeaseName", set_object_name<&Conf::lease_name>},
    Key{"SbatchNamespace", set_object_name<&Conf::batch_namespace>},
    Key{"SbatchTemplate", set_path<&Conf::batch_template>},
    Key{"SbatchChooseNamespace", set_names<&Conf::batch_namespaces>},
    Key{"SbatchChooseServiceAccount", set_names<&Conf::batch_accounts>},
    Key{"DefaultImage", set_default_image, true},
    Key{"MaxScriptSize", set_number<&Conf::max_script_size, 1024, 900000>},
    Key{"Workers", set_number<&Conf::workers, 1, 64>},
    Key{"LogLevel", set_log_level},
};

const Key *find_key(std::string_view name)
{
    auto found = std::ranges::find_if(
        keys, [&](const Key &key) { return lower(key.name) == lower(name); });
    return found == keys.end() ? nullptr : &*found;
}

// Sets what one line says; nothing for a blank line or a comment.
Result<> parse_line(Conf &conf, std::vector<const Key *> &seen,
                    std::string_view line)
{
    line = trim(line.substr(0, line.find('#')));
    if (line.empty())
        return {};
    if (has_control_character(line))
        return bad("has a control character: is this a text file?");
    std::size_t equals = line.find('=');
    if (equals == line.npos)
        return bad("\"" + std::string(line.substr(0, 64)) +
                   "\" is not Key=Value");
    std::string name(trim(line.substr(0, equals)));
    std::string_view value = trim(line.substr(equals + 1));
    const Key *key = find_key(name);
    if (!key)
        return bad("unknown key \"" + name.substr(0, 64) +
                   "\", see k8s.conf(5)");
    if (!key->repeats && std::ranges::contains(seen, key))
        return bad(std::string(key->name) + " is given twice");
    seen.push_back(key);
    if (value.empty())
        return bad(std::string(key->name) + " has no value");
    if (auto set = key->set(conf, value); !set)
        return bad(std::string(key->name) + " " + set.error().message);
    return {};
}

} // namespace

Result<Conf> parse_conf(std::string_view text)
{
    Conf conf;
    std::vector<const Key *> seen;
    std::size_t line_number = 0;
    while (!text.empty()) {
        line_number++;
        std::size_t end = text.find('\n');
        if (auto done = parse_line(conf, seen, text.substr(0, end)); !done)
            return fail(done.error(), "line " + std::to_string(line_number));
        text = end == text.npos ? std::string_view{} : text.substr(end + 1);
    }
    return conf;
}

Result<Conf> load_conf(const std::string &path)
{
    std::ifstream file(path);
    std::ostringstream text;
    // To copy nothing counts as a failure, but an empty file is a good one.
    bool empty = file.peek() == EOF && file.is_open() && !file.bad();
    if (!empty && !(text << file.rdbuf()))
        return fail(Code::not_found, "cannot read " + path);
    auto conf = parse_conf(text.str());
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
