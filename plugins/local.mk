# SPDX-License-Identifier: GPL-2.0-or-later
# -z nodelete: the link's thread runs in prep_k8s.so for as long as slurmctld.
PLUGIN_LDFLAGS = -module -avoid-version -no-undefined \
	-Wl,--version-script=$(top_srcdir)/plugins/plugin.map -Wl,-z,nodelete
EXTRA_DIST += plugins/plugin.map

# Of prep/k8s what needs no slurmctld around it.
prep_pure_sources = \
	plugins/prep/agent_link.cc plugins/prep/agent_link.h \
	plugins/prep/agent_socket.cc plugins/prep/agent_socket.h \
	plugins/prep/control_watch.cc plugins/prep/control_watch.h \
	plugins/prep/drain_retries.h \
	plugins/prep/gate.cc plugins/prep/gate.h \
	plugins/prep/gate_file.cc plugins/prep/gate_file.h \
	plugins/prep/held_hooks.cc plugins/prep/held_hooks.h \
	plugins/prep/node_set.h \
	plugins/prep/overdue_jobs.cc plugins/prep/overdue_jobs.h \
	plugins/prep/slurmctld.h

plugin_LTLIBRARIES += plugins/prep/prep_k8s.la
plugins_prep_prep_k8s_la_SOURCES = \
	plugins/shared/job_facts.cc plugins/shared/job_facts.h \
	plugins/shared/packed_job.cc plugins/shared/packed_job.h \
	plugins/shared/signals_blocked.h \
	plugins/shared/slurm_conf_path.cc plugins/shared/slurm_conf_path.h \
	plugins/shared/slurmctld_job.cc plugins/shared/slurmctld_job.h \
	$(prep_pure_sources) \
	plugins/prep/prep_k8s.cc \
	plugins/prep/real_slurmctld.cc plugins/prep/real_slurmctld.h
plugins_prep_prep_k8s_la_LIBADD = $(plugin_common)
plugins_prep_prep_k8s_la_LDFLAGS = $(PLUGIN_LDFLAGS)
EXTRA_plugins_prep_prep_k8s_la_DEPENDENCIES = \
	$(top_srcdir)/plugins/plugin.map

# Of job_submit/k8s what needs no slurmctld around it.
job_submit_pure_sources = \
	plugins/job_submit/batch_component.cc \
	plugins/job_submit/batch_component.h \
	plugins/job_submit/batch_refusal.cc \
	plugins/job_submit/batch_refusal.h \
	plugins/job_submit/batch_request.cc \
	plugins/job_submit/batch_request.h \
	plugins/job_submit/batch_wish.cc \
	plugins/job_submit/batch_wish.h \
	plugins/job_submit/burst.cc \
	plugins/job_submit/burst.h \
	plugins/job_submit/burst_fit.cc \
	plugins/job_submit/burst_fit.h \
	plugins/job_submit/conf_cache.cc \
	plugins/job_submit/conf_cache.h \
	plugins/job_submit/group_book.cc \
	plugins/job_submit/group_book.h \
	plugins/job_submit/group_lookup.cc \
	plugins/job_submit/group_lookup.h \
	plugins/job_submit/hook_files.cc \
	plugins/job_submit/hook_files.h \
	plugins/job_submit/job_desc.cc \
	plugins/job_submit/job_desc.h \
	plugins/job_submit/login_book.cc \
	plugins/job_submit/login_book.h \
	plugins/job_submit/login_notary.cc \
	plugins/job_submit/login_notary.h \
	plugins/job_submit/node_view.cc \
	plugins/job_submit/node_view.h \
	plugins/job_submit/partition_limits.cc \
	plugins/job_submit/partition_limits.h \
	plugins/job_submit/refresh.h \
	plugins/job_submit/submit_budget.cc \
	plugins/job_submit/submit_budget.h \
	plugins/job_submit/submit_policy.cc \
	plugins/job_submit/submit_policy.h

plugin_LTLIBRARIES += plugins/job_submit/job_submit_k8s.la
plugins_job_submit_job_submit_k8s_la_SOURCES = \
	plugins/shared/job_facts.cc plugins/shared/job_facts.h \
	plugins/shared/packed_job.cc plugins/shared/packed_job.h \
	plugins/shared/pod_array.cc plugins/shared/pod_array.h \
	plugins/shared/signals_blocked.h \
	plugins/shared/slurm_conf_path.cc plugins/shared/slurm_conf_path.h \
	plugins/shared/slurmctld_job.cc plugins/shared/slurmctld_job.h \
	$(job_submit_pure_sources) \
	plugins/job_submit/batch_jobs.cc plugins/job_submit/batch_jobs.h \
	plugins/job_submit/burst_jobs.cc plugins/job_submit/burst_jobs.h \
	plugins/job_submit/group_watch.cc plugins/job_submit/group_watch.h \
	plugins/job_submit/job_submit_k8s.cc \
	plugins/job_submit/plugin_files.cc plugins/job_submit/plugin_files.h \
	plugins/job_submit/node_watch.cc plugins/job_submit/node_watch.h
plugins_job_submit_job_submit_k8s_la_LIBADD = $(plugin_common)
plugins_job_submit_job_submit_k8s_la_LDFLAGS = $(PLUGIN_LDFLAGS)
EXTRA_plugins_job_submit_job_submit_k8s_la_DEPENDENCIES = \
	$(top_srcdir)/plugins/plugin.map

plugin_LTLIBRARIES += plugins/burst_buffer/burst_buffer_k8s.la
plugins_burst_buffer_burst_buffer_k8s_la_SOURCES = \
	plugins/shared/pod_array.cc plugins/shared/pod_array.h \
	plugins/burst_buffer/burst_buffer_k8s.cc
plugins_burst_buffer_burst_buffer_k8s_la_LIBADD = $(plugin_common)
plugins_burst_buffer_burst_buffer_k8s_la_LDFLAGS = $(PLUGIN_LDFLAGS)
EXTRA_plugins_burst_buffer_burst_buffer_k8s_la_DEPENDENCIES = \
	$(top_srcdir)/plugins/plugin.map

plugin_LTLIBRARIES += plugins/node_features/node_features_k8s.la
plugins_node_features_node_features_k8s_la_SOURCES = \
	plugins/shared/slurm_conf_path.cc plugins/shared/slurm_conf_path.h \
	plugins/node_features/feature_report.cc \
	plugins/node_features/feature_report.h \
	plugins/node_features/node_features_k8s.cc
plugins_node_features_node_features_k8s_la_LIBADD = $(plugin_common)
plugins_node_features_node_features_k8s_la_LDFLAGS = $(PLUGIN_LDFLAGS)
EXTRA_plugins_node_features_node_features_k8s_la_DEPENDENCIES = \
	$(top_srcdir)/plugins/plugin.map

# In sbatch and salloc.
plugin_LTLIBRARIES += plugins/spank/spank_k8s.la
plugins_spank_spank_k8s_la_SOURCES = plugins/spank/spank_k8s.cc
plugins_spank_spank_k8s_la_LIBADD = $(plugin_common)
plugins_spank_spank_k8s_la_LDFLAGS = $(PLUGIN_LDFLAGS)
EXTRA_plugins_spank_spank_k8s_la_DEPENDENCIES = \
	$(top_srcdir)/plugins/plugin.map

# The parts that need no slurmctld around them, for the unit tests.
check_LTLIBRARIES += plugins/libplugin_pure.la
plugins_libplugin_pure_la_SOURCES = \
	$(job_submit_pure_sources) \
	$(prep_pure_sources) \
	plugins/shared/job_facts.cc plugins/shared/job_facts.h \
	plugins/shared/packed_job.cc plugins/shared/packed_job.h \
	plugins/shared/pod_array.cc plugins/shared/pod_array.h \
	plugins/node_features/feature_report.cc \
	plugins/node_features/feature_report.h
plugins_libplugin_pure_la_CXXFLAGS = $(SANITIZED_CXXFLAGS)

$(plugins_prep_prep_k8s_la_OBJECTS) \
$(plugins_job_submit_job_submit_k8s_la_OBJECTS) \
$(plugins_burst_buffer_burst_buffer_k8s_la_OBJECTS) \
$(plugins_node_features_node_features_k8s_la_OBJECTS) \
$(plugins_spank_spank_k8s_la_OBJECTS) \
$(plugins_libplugin_pure_la_OBJECTS): $(pch)
