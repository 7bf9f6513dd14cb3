// SPDX-License-Identifier: GPL-2.0-or-later
// k8s.conf(5), which the agent, the plugins and slurmk8s read. conf.cc has the
// table of keys; the man page explains them.
#pragma once

#include "common/base/log.h"
#include "common/base/result.h"
#include "common/contract/batch_template.h"
#include "common/contract/burst_rule.h"
#include "common/contract/capacity_gres.h"
#include "common/contract/device_gres.h"
#include "common/contract/feature_labels.h"
#include "common/contract/names.h"
#include "common/contract/node_pool.h"
#include "common/contract/priority_class.h"

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

// One field for each key, with the default of the man page.
struct Conf {
    std::string kube_api_server; // KubeApiServer=URL; empty: the Pod's own
    std::string kube_ca_file;    // KubeCaFile=PATH; empty: the Pod's own
    std::string kube_token_file; // KubeTokenFile=PATH; empty: the Pod's own
    std::vector<std::string> scheduler_names{"slurm"}; // SchedulerName=A,B
    std::string default_user; // DefaultUser=NAME; empty: Pods that name no user
                              // are refused
    bool allow_root = false;  // AllowRoot=yes|no
    // Namespaces whose Pods may choose another user, group, account or QoS, and
    // namespaces whose Pods may raise their priority; "*" is all namespaces.
    std::vector<std::string> choose_user;     // ChooseUser=A,B
    std::vector<std::string> choose_priority; // ChoosePriority=A,B
    PriorityClasses priority_classes; // PriorityClass=NAME qos=Q nice=N; may be
                                      // repeated
    unsigned max_pending_jobs = 5000; // MaxPendingJobs=, 0: no limit
    // MaxPendingJobsPerNamespace=; nothing: a share of MaxPendingJobs; 0: no
    // limit and no share
    std::optional<unsigned> max_pending_in_namespace{};
    // MaxNodeSelectionsPerNamespace=, 1..400
    unsigned max_selections_in_namespace = 100;
    unsigned max_gang_size = 4096; // MaxGangSize=, 1..65533 Pods
    unsigned max_padding = 100;    // MaxPadding=, 0..100 percent; 100: no limit
    std::string partition;         // Partition=NAME; empty: Slurm's default
    std::string node_address;      // NodeAddress=IP[:PORT]; empty: slurmctld's
    // NodePool=NAME Nodes=N CPUs=N RealMemory=MIB …; may be repeated
    std::vector<NodePool> node_pools{};
    std::vector<FeatureLabel> feature_labels{}; // FeatureLabels=LABEL[:NAME],…
    std::vector<DeviceGres> device_gres{};      // DeviceGres=NAME:GRES[:TYPE],…
    // DeviceCapacity=DRIVER/CAPACITY:GRES[:UNIT],…
    std::vector<CapacityGres> capacity_gres{};
    std::string kubelet_dir = names::default_kubelet_dir; // KubeletDir=PATH
    std::string labels_file = names::default_labels_file; // NodeLabelsFile=PATH
    std::string socket_path = names::default_socket_path; // Socket=PATH
    std::string web_address = "127.0.0.1:8473";           // WebAddress=IP:PORT
    std::chrono::seconds resync_interval{300}; // ResyncInterval=, 5..86400
    std::chrono::seconds reason_interval{30};  // ReasonInterval=, 1..3600
    std::chrono::seconds orphan_grace{60};     // OrphanGrace=, 0..86400
    std::chrono::seconds bind_timeout{300};    // BindTimeout=, 10..86400
    std::chrono::seconds rejoin_grace{30};     // RejoinGrace=, 0..3600
    // MaxGracePeriod=, 1..3600; nothing: KillWait of slurm.conf
    std::optional<std::chrono::seconds> max_grace_period{};
    std::chrono::seconds feature_linger{300};    // FeatureLinger=, 1..86400
    std::chrono::seconds gate_timeout{600};      // GateTimeout=, 1..86400
    std::chrono::seconds node_lost_timeout{300}; // NodeLostTimeout=, 10..86400
    bool taint_nodes = true;                     // TaintNodes=yes|no
    bool cordon_nodes = true;                    // CordonNodes=yes|no
    std::chrono::seconds node_interval{5};       // NodeInterval=, 1..3600
    std::chrono::seconds resize_delay{60};       // ResizeDelay=, 0..86400
    // MetricsInterval=, 0..3600; 0: Slurm is not counted
    std::chrono::seconds metrics_interval{30};
    bool metrics_users = false;       // MetricsUsers=yes|no
    std::string metrics_token_file{}; // MetricsTokenFile=PATH; empty: none
    std::string lease_namespace{"slurm-k8s-bridge"}; // LeaseNamespace=NAME
    std::string lease_name{"slurmk8sd"};             // LeaseName=NAME
    // Batch jobs as Pods; without a namespace this is off.
    std::string batch_namespace{}; // SbatchNamespace=NAME
    std::string batch_template{};  // SbatchTemplate=PATH; empty: built-in
    // The contents of that file, once read_batch_template() was called.
    BatchTemplate batch_pod = default_batch_template();
    // What a job may choose instead of that namespace and of the ServiceAccount
    // in the template.
    std::vector<std::string> batch_namespaces{}; // SbatchChooseNamespace=A,B
    std::vector<std::string> batch_accounts{}; // SbatchChooseServiceAccount=A,B
    // The images of batch jobs that name none, by partition.
    std::map<std::string, std::string> default_images{}; // DefaultImage=P IMAGE
    // The partitions in which plain batch jobs may start, too.
    std::vector<BurstRule> bursts{}; // Burst=PARTITION:PARTITION; may be
                                     // repeated
    // The DNS domain of the cluster, in which the Pods of a job of several
    // nodes find each other.
    std::string cluster_domain{"cluster.local"}; // ClusterDomain=NAME
    // SchedulePods=yes|no; no: Slurm schedules no Pods, and the agent serves
    // workers only.
    bool schedule_pods = true;
    // Namespaces whose NodeSets have workers for this slurmctld.
    std::vector<std::string> worker_namespaces{}; // WorkerNamespace=A,B
    // The Controller there that is this slurmctld; empty: each of these
    // namespaces has one only.
    std::string worker_controller{}; // WorkerController=NAME
    // slurmctld is to read its configuration anew whenever this file is
    // another one.
    std::string config_hash_file{};      // ConfigHashFile=PATH; empty: none
    unsigned max_script_size = 524288;   // MaxScriptSize=, 1024..900000 bytes
    unsigned workers = 32;               // Workers=, 1..64
    LogLevel log_level = LogLevel::info; // LogLevel=

    bool operator==(const Conf &) const = default;
};

// Code::rejected, with the line number, for unknown keys, repeated keys and
// invalid values.
Result<Conf> parse_conf(std::string_view text);

// What a program makes of a k8s.conf that may be of another release: a setting
// that it does not know, or cannot use, keeps its default, and so do all after
// a line that is none. trouble is the first such error, empty if there is none.
struct KnownConf {
    Conf conf;
    std::string trouble;
};
KnownConf load_known_conf(const std::string &path);

// Code::not_found if the file cannot be read; otherwise as parse_conf(), with
// the path in the message.
Result<Conf> load_conf(const std::string &path);

// Reads the file of SbatchTemplate, if k8s.conf has one, into batch_pod. Called
// by programs that make Pods from it or tell users about it. The message of an
// error has the file's name and the field.
Result<> read_batch_template(Conf &conf);

// Tells whether the agent makes Pods of batch jobs in this namespace.
bool is_batch_namespace(const Conf &conf, std::string_view ns);

} // namespace bridge
