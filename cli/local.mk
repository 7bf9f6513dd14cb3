# What "slurmk8s check" finds is a library, so that the unit tests link the same
# code.
noinst_LTLIBRARIES += cli/libcheck.la
cli_libcheck_la_SOURCES = \
	cli/agent_client.cc cli/agent_client.h \
	cli/check.h \
	cli/check_all.cc \
	cli/check_host.cc cli/check_host.h \
	cli/check_kube.cc cli/check_kube.h \
	cli/check_names.cc cli/check_names.h \
	cli/check_nodes.cc \
	cli/check_partitions.cc \
	cli/check_slurm.cc cli/check_slurm.h \
	cli/finding.cc cli/finding.h \
	cli/host_facts.cc cli/host_facts.h \
	cli/job_name.cc cli/job_name.h \
	cli/kube_facts.cc cli/kube_facts.h \
	cli/salloc_script.cc cli/salloc_script.h \
	cli/slurm_facts.cc cli/slurm_facts.h \
	cli/slurm_here.cc cli/slurm_here.h \
	cli/token_expiry.cc cli/token_expiry.h
cli_libcheck_la_CPPFLAGS = $(AM_CPPFLAGS) $(HTTPLIB_CFLAGS) $(CURL_CFLAGS)
cli_libcheck_la_CXXFLAGS = $(SANITIZED_CXXFLAGS)

bin_PROGRAMS += slurmk8s
slurmk8s_SOURCES = \
	cli/attach.cc cli/attach.h \
	cli/check.cc \
	cli/commands.h \
	cli/explain.cc \
	cli/logs.cc \
	cli/salloc.cc \
	cli/session.cc cli/session.h \
	cli/slurm_login.cc cli/slurm_login.h \
	cli/slurmk8s.cc \
	cli/status.cc \
	cli/terminal.cc cli/terminal.h \
	cli/user_commands.cc cli/user_commands.h
slurmk8s_CPPFLAGS = $(cli_libcheck_la_CPPFLAGS) $(OPENSSL_CFLAGS)
slurmk8s_CXXFLAGS = $(SANITIZED_CXXFLAGS)
slurmk8s_LDFLAGS = $(SANITIZE)
slurmk8s_LDADD = cli/libcheck.la agent/libagent.la $(CURL_LIBS) \
	$(OPENSSL_LIBS) $(HTTPLIB_LIBS) $(SLURM_LIBS)

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
check_LTLIBRARIES = cli/srun/libsrun.la
cli_srun_libsrun_la_SOURCES = $(srun_pure_sources)
cli_srun_libsrun_la_CXXFLAGS = $(SANITIZED_CXXFLAGS)

# It runs in users' images, where there may be no library at all, and has to fit
# into a ConfigMap: so it is static, small, and without sanitizers.
if STATIC_SRUN
pkglibexec_PROGRAMS = slurmk8s-srun
slurmk8s_srun_SOURCES = \
	$(srun_pure_sources) \
	common/name_pattern.cc \
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
slurmk8s_srun_CPPFLAGS = $(AM_CPPFLAGS) $(OPENSSL_CFLAGS)
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
