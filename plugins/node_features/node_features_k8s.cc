// SPDX-License-Identifier: GPL-2.0-or-later
// The node_features/k8s plugin, for nodes with both slurmd and kubelet. slurmd
// reports that there is a kubelet and which labels its Node has; slurmctld
// makes them features of the node. The plugin never switches features: no node
// is rebooted, and no feature is changeable in Slurm's sense. slurmctld would
// set a node DOWN if its slurmd reported fewer changeable features than before,
// which happens when a label is removed (node_mgr.c,
// _valid_reported_active_features()).
//
// slurmctld calls these functions with its locks held, slurmd while it starts.
#include "plugins/node_features/feature_report.h"
#include "plugins/shared/slurm_conf_path.h"

#include <cstdint>
#include <exception>
#include <sys/types.h>

extern "C" {
#include <slurm/slurm_errno.h>
#include <slurm/spank.h> // slurm_error()
}

extern "C" {

extern const char plugin_name[] = "Bridge to Kubernetes: features of nodes";
extern const char plugin_type[] = "node_features/k8s";
extern const std::uint32_t plugin_version = SLURM_VERSION_NUMBER;

// Slurm's allocator, from libslurmfull.
char *slurm_xstrdup(const char *text);
void slurm_xfree(void **item);
}

namespace bridge {

namespace {

std::string text(const char *chars)
{
    return chars ? chars : "";
}

// Slurm expects NULL for an empty list.
char *slurm_text(const std::string &words)
{
    return words.empty() ? nullptr : slurm_xstrdup(words.c_str());
}

void append(char **list, const std::vector<std::string> &features)
{
    std::string all = with_words(text(*list), features);
    slurm_xfree(reinterpret_cast<void **>(list));
    *list = slurm_text(all);
}

} // namespace

} // namespace bridge

extern "C" {

// Called once, in slurmd: sets the features that it reports with each
// registration.
void node_features_p_node_state(char **avail_modes,
                                char **current_mode) noexcept
try {
    auto conf = bridge::load_conf(bridge::k8s_conf_path());
    if (!conf)
        slurm_info("node_features/k8s: no labels are reported: %s",
                   conf.error().message.c_str());
    auto features = bridge::reported_features(conf.value_or(bridge::Conf{}));
    bridge::append(avail_modes, features);
    bridge::append(current_mode, features);
} catch (const std::exception &e) { // no C++ exception may reach slurmd
    slurm_error("node_features/k8s: nothing is reported: %s", e.what());
}

// Called in slurmctld with the write lock on nodes held.
char *node_features_p_node_xlate(char *new_features, char *orig_features,
                                 char *avail_features, int) noexcept
try {
    return bridge::slurm_text(bridge::merged_features(
        bridge::text(new_features), bridge::text(orig_features),
        bridge::text(avail_features)));
} catch (const std::exception &e) {
    slurm_error("node_features/k8s: features stay as they were: %s", e.what());
    return slurm_xstrdup(orig_features);
}

char *node_features_p_node_xlate2(char *new_features) noexcept
{
    return slurm_xstrdup(new_features);
}

bool node_features_p_changeable_feature(char *) noexcept
{
    return false;
}

// Impossible requests are refused by job_submit/k8s, which can give a reason:
// this function returns only a number, and is not told what kind of job asks.
int node_features_p_job_valid(char *, list_t *) noexcept
{
    return SLURM_SUCCESS;
}

// Features of other plugins are not ours to restrict.
bool node_features_p_user_update(uid_t) noexcept
{
    return true;
}

char *node_features_p_job_xlate(char *, list_t *, void *) noexcept
{
    return nullptr;
}

void *node_features_p_get_node_bitmap() noexcept
{
    return nullptr;
}

int node_features_p_overlap(void *) noexcept
{
    return 0;
}

int node_features_p_node_set(char *, bool *) noexcept
{
    return SLURM_SUCCESS;
}

std::uint32_t node_features_p_boot_time() noexcept
{
    return 0;
}

void node_features_p_get_config(void *) noexcept {}

bool node_features_p_job_features_need_reboot(char *) noexcept
{
    return false;
}
}
