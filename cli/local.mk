# SPDX-License-Identifier: GPL-2.0-or-later
# What "slurmk8s check" finds and "slurmk8s top" shows is a library, so that the
# unit tests link the same code.
cli_top_pure_sources = \
	cli/top/count.h \
	cli/top/duration_text.cc cli/top/duration_text.h \
	cli/top/row_shares.cc cli/top/row_shares.h \
	cli/top/screen_line.h \
	cli/top/top_counts.cc cli/top/top_counts.h \
	cli/top/top_lists.cc cli/top/top_lists.h \
	cli/top/top_screen.cc cli/top/top_screen.h \
	cli/top/top_view.cc cli/top/top_view.h
noinst_LTLIBRARIES += cli/libcheck.la
cli_libcheck_la_SOURCES = \
	cli/agent_client.cc cli/agent_client.h \
	cli/check/check.h \
	cli/check/check_all.cc \
	cli/check/check_burst.cc \
	cli/check/check_host.cc cli/check/check_host.h \
	cli/check/check_kube.cc cli/check/check_kube.h \
	cli/check/check_names.cc cli/check/check_names.h \
	cli/check/check_nodes.cc \
	cli/check/check_partitions.cc \
	cli/check/check_pending_jobs.cc cli/check/check_pending_jobs.h \
	cli/check/check_reach.cc cli/check/check_reach.h \
	cli/check/check_slurm.cc cli/check/check_slurm.h \
	cli/check/finding.cc cli/check/finding.h \
	cli/check/host_facts.cc cli/check/host_facts.h \
	cli/user/job_name.cc cli/user/job_name.h \
	cli/check/kube_facts.cc cli/check/kube_facts.h \
	cli/setup/conf_edit.cc cli/setup/conf_edit.h \
	cli/setup/kubectl.cc cli/setup/kubectl.h \
	cli/setup/manifests.cc cli/setup/manifests.h \
	cli/setup/opt_in.cc cli/setup/opt_in.h \
	cli/setup/options.cc cli/setup/options.h \
	cli/setup/program.cc cli/setup/program.h \
	cli/setup/slurm_lines.cc cli/setup/slurm_lines.h \
	cli/user/salloc_script.cc cli/user/salloc_script.h \
	cli/check/slurm_facts.cc cli/check/slurm_facts.h \
	cli/slurm_here.cc cli/slurm_here.h \
	cli/check/token_expiry.cc cli/check/token_expiry.h \
	$(cli_top_pure_sources)
cli_libcheck_la_CXXFLAGS = $(SANITIZED_CXXFLAGS)
$(cli_libcheck_la_OBJECTS): $(pch)

bin_PROGRAMS += slurmk8s
slurmk8s_SOURCES = \
	cli/user/attach.cc cli/user/attach.h \
	cli/check/check.cc \
	cli/commands.h \
	cli/explain.cc \
	cli/user/logs.cc \
	cli/user/salloc.cc \
	cli/user/session.cc cli/user/session.h \
	cli/user/slurm_login.cc cli/user/slurm_login.h \
	cli/setup/agent_steps.cc cli/setup/agent_steps.h \
	cli/setup/commands.cc cli/setup/commands.h \
	cli/setup/host_steps.cc cli/setup/host_steps.h \
	cli/setup/kube_steps.cc cli/setup/kube_steps.h \
	cli/setup/report.cc cli/setup/report.h \
	cli/setup/setup.cc \
	cli/setup/site.cc cli/setup/site.h \
	cli/setup/uninstall.cc \
	cli/slurmk8s.cc \
	cli/status.cc \
	cli/top/print_top.h \
	cli/top/run_top.cc cli/top/run_top.h \
	cli/top/top_asker.cc cli/top/top_asker.h \
	cli/top/top_live.cc cli/top/top_live.h \
	cli/top/top_reader.cc cli/top/top_reader.h \
	cli/top/top_terminal.cc cli/top/top_terminal.h \
	cli/user/terminal.cc cli/user/terminal.h \
	cli/user/user_commands.cc cli/user/user_commands.h
slurmk8s_CPPFLAGS = $(plain_cppflags) -DPKGDATADIR=\"$(pkgdatadir)\"
slurmk8s_CXXFLAGS = $(SANITIZED_CXXFLAGS)
slurmk8s_LDFLAGS = $(SANITIZE)
slurmk8s_LDADD = cli/libcheck.la $(agent_libraries) $(agent_system_libraries)

# srun for the Pods of a job: what it decides is a library for the unit tests.
srun_pure_sources = \
	cli/srun/het_group.cc cli/srun/het_group.h \
	cli/srun/host_names.cc cli/srun/host_names.h \
	cli/srun/hosts_file.cc cli/srun/hosts_file.h \
	cli/srun/io_name.cc cli/srun/io_name.h \
	cli/srun/launch.cc cli/srun/launch.h \
	cli/srun/proof.cc cli/srun/proof.h \
	cli/srun/srun_help.cc \
	cli/srun/srun_option_table.cc cli/srun/srun_option_table.h \
	cli/srun/srun_options.cc cli/srun/srun_options.h \
	cli/srun/srun_values.cc cli/srun/srun_values.h \
	cli/srun/step_frame.cc cli/srun/step_frame.h \
	cli/srun/step_layout.cc \
	cli/srun/step_plan.cc cli/srun/step_plan.h \
	cli/srun/task_environment.cc cli/srun/task_environment.h \
	cli/srun/task_states.cc cli/srun/task_states.h
check_LTLIBRARIES += cli/srun/libsrun.la
cli_srun_libsrun_la_SOURCES = $(srun_pure_sources)
cli_srun_libsrun_la_CXXFLAGS = $(SANITIZED_CXXFLAGS)
$(cli_srun_libsrun_la_OBJECTS): $(pch)

# It runs in users' images, where there may be no library at all, and has to fit
# into a ConfigMap: so it is static, small, and without sanitizers.
if STATIC_SRUN
pkglibexec_PROGRAMS = slurmk8s-srun
slurmk8s_srun_SOURCES = \
	$(srun_pure_sources) \
	common/contract/name_pattern.cc \
	cli/srun/client_input.cc cli/srun/client_input.h \
	cli/srun/main.cc \
	cli/srun/planned_step.cc cli/srun/planned_step.h \
	cli/srun/srun_peer.cc cli/srun/srun_peer.h \
	cli/srun/srun_step.cc cli/srun/srun_step.h \
	cli/srun/step_address.cc cli/srun/step_address.h \
	cli/srun/step_client.cc cli/srun/step_client.h \
	cli/srun/step_ending.cc cli/srun/step_ending.h \
	cli/srun/step_files.cc cli/srun/step_files.h \
	cli/srun/step_io.cc cli/srun/step_io.h \
	cli/srun/step_keeper.cc cli/srun/step_keeper.h \
	cli/srun/step_limits.cc cli/srun/step_limits.h \
	cli/srun/step_link.cc cli/srun/step_link.h \
	cli/srun/step_server.cc cli/srun/step_server.h \
	cli/srun/step_sink.cc cli/srun/step_sink.h \
	cli/srun/step_tasks.cc cli/srun/step_tasks.h \
	cli/srun/task_process.cc cli/srun/task_process.h \
	cli/srun/task_streams.cc cli/srun/task_streams.h \
	cli/srun/worker.cc cli/srun/worker.h
slurmk8s_srun_CPPFLAGS = $(plain_cppflags)
slurmk8s_srun_CXXFLAGS = $(AM_CXXFLAGS) -ffunction-sections -fdata-sections
slurmk8s_srun_LDFLAGS = -all-static -Wl,--gc-sections -Wl,--strip-all
slurmk8s_srun_LDADD = -lcrypto
# The user's CXXFLAGS come last on the command line, and have an -O of their own.
$(slurmk8s_srun_OBJECTS): override CXXFLAGS += -Os
endif

# kubectl finds its plugins by name: "kubectl slurm …".
install-exec-hook:
	cd $(DESTDIR)$(bindir) && $(LN_S) -f slurmk8s kubectl-slurm

uninstall-hook:
	rm -f $(DESTDIR)$(bindir)/kubectl-slurm
