// SPDX-License-Identifier: GPL-2.0-or-later
// The members that a site's template for the Pods of batch jobs may have, and
// why it may not have the others: one table for each object of a Pod. Only
// template_check.cc includes this file.
#pragma once

#include <string_view>

namespace bridge::template_members {

// JSON types, by the first character of the JSON text.
enum JsonType : char {
    an_object = '{',
    an_array = '[',
    a_string = '"',
    a_number = '0',
    a_flag = 't',
    anything = 'n'
};

// A member that a template may have, with its type; or, if why is set, the
// reason why it may not have it.
struct Member {
    std::string_view name;
    JsonType type = anything;
    const char *reason = nullptr;
};

inline constexpr char by_us[] = "slurmk8sd sets it";
inline constexpr char by_slurm[] = "Slurm chooses the node";
inline constexpr char by_job[] = "the job sets it";
inline constexpr char given[] = "slurmk8sd sets what Slurm has allocated";
inline constexpr char identity[] = "the Pod runs as the job's user";
inline constexpr char privilege[] = "Pods of batch jobs have no privileges";
inline constexpr char one_container[] =
    "the Pod of a batch job has one container";
inline constexpr char no_probe[] = "not supported for batch jobs";

inline constexpr Member in_pod[] = {{"apiVersion", a_string},
                                    {"kind", a_string},
                                    {"metadata", an_object},
                                    {"spec", an_object},
                                    {"status", anything, by_us}};

inline constexpr Member in_metadata[] = {
    {"labels", an_object},          {"annotations", an_object},
    {"name", anything, by_us},      {"generateName", anything, by_us},
    {"namespace", anything, by_us}, {"ownerReferences", anything, by_us},
    {"finalizers", anything, by_us}};

inline constexpr Member in_spec[] = {
    {"containers", an_array},
    {"volumes", an_array},
    {"tolerations", an_array},
    {"imagePullSecrets", an_array},
    {"serviceAccountName", a_string},
    {"enableServiceLinks", a_flag},
    {"terminationGracePeriodSeconds", a_number},
    {"dnsPolicy", a_string},
    {"dnsConfig", an_object},
    {"hostAliases", an_array},
    {"securityContext", an_object},
    {"automountServiceAccountToken", anything,
     "Pods of batch jobs have no token of the API server"},
    {"nodeName", anything, by_slurm},
    {"nodeSelector", anything, by_slurm},
    {"affinity", anything, by_slurm},
    {"topologySpreadConstraints", anything, by_slurm},
    {"schedulingGates", anything, by_slurm},
    {"schedulerName", anything, by_us},
    {"restartPolicy", anything, by_us},
    {"activeDeadlineSeconds", anything, "Slurm's time limit ends the job"},
    {"resources", anything, given},
    {"resourceClaims", anything, given},
    {"overhead", anything, given},
    {"initContainers", anything, one_container},
    {"ephemeralContainers", anything, one_container},
    {"hostNetwork", anything, privilege},
    {"hostPID", anything, privilege},
    {"hostIPC", anything, privilege},
    {"hostUsers", anything, privilege},
    {"shareProcessNamespace", anything, by_us}};

inline constexpr Member in_pod_security[] = {
    {"seccompProfile", an_object},
    {"appArmorProfile", an_object},
    {"runAsUser", anything, identity},
    {"runAsGroup", anything, identity},
    {"runAsNonRoot", anything, identity},
    {"supplementalGroups", anything, identity},
    {"supplementalGroupsPolicy", anything, identity},
    {"fsGroup", anything, identity},
    {"fsGroupChangePolicy", anything, identity},
    {"seLinuxOptions", anything, privilege},
    {"seLinuxChangePolicy", anything, privilege},
    {"sysctls", anything, privilege}};

inline constexpr Member in_container[] = {
    {"name", a_string},
    {"env", an_array},
    {"volumeMounts", an_array},
    {"imagePullPolicy", a_string},
    {"terminationMessagePolicy", a_string},
    {"securityContext", an_object},
    {"image", anything, by_job},
    {"command", anything, by_job},
    {"args", anything, by_job},
    {"workingDir", anything, by_job},
    {"resources", anything, given},
    {"resizePolicy", anything, given},
    {"lifecycle", anything, no_probe},
    {"livenessProbe", anything, no_probe},
    {"readinessProbe", anything, no_probe},
    {"startupProbe", anything, no_probe},
    {"ports", anything, no_probe}};

inline constexpr Member in_container_security[] = {
    {"readOnlyRootFilesystem", a_flag},
    {"seccompProfile", an_object},
    {"appArmorProfile", an_object},
    {"runAsUser", anything, identity},
    {"runAsGroup", anything, identity},
    {"runAsNonRoot", anything, identity},
    {"allowPrivilegeEscalation", anything, privilege},
    {"privileged", anything, privilege},
    {"capabilities", anything, privilege},
    {"procMount", anything, privilege},
    {"seLinuxOptions", anything, privilege}};

inline constexpr Member in_mount[] = {
    {"name", a_string},    {"mountPath", a_string},
    {"readOnly", a_flag},  {"recursiveReadOnly", a_string},
    {"subPath", a_string}, {"mountPropagation", a_string}};

inline constexpr Member in_toleration[] = {{"key", a_string},
                                           {"operator", a_string},
                                           {"value", a_string},
                                           {"effect", a_string},
                                           {"tolerationSeconds", a_number}};

inline constexpr Member in_variable[] = {
    {"name", a_string}, {"value", a_string}, {"valueFrom", an_object}};

} // namespace bridge::template_members
