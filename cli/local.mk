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
	cli/kube_facts.cc cli/kube_facts.h \
	cli/slurm_facts.cc cli/slurm_facts.h \
	cli/token_expiry.cc cli/token_expiry.h
cli_libcheck_la_CPPFLAGS = $(AM_CPPFLAGS) $(HTTPLIB_CFLAGS) $(CURL_CFLAGS)
cli_libcheck_la_CXXFLAGS = $(SANITIZED_CXXFLAGS)

bin_PROGRAMS += slurmk8s
slurmk8s_SOURCES = \
	cli/check.cc \
	cli/commands.h \
	cli/explain.cc \
	cli/slurmk8s.cc \
	cli/status.cc
slurmk8s_CPPFLAGS = $(cli_libcheck_la_CPPFLAGS)
slurmk8s_CXXFLAGS = $(SANITIZED_CXXFLAGS)
slurmk8s_LDFLAGS = $(SANITIZE)
slurmk8s_LDADD = cli/libcheck.la agent/libagent.la $(CURL_LIBS) \
	$(OPENSSL_LIBS) $(HTTPLIB_LIBS) $(SLURM_LIBS)

# kubectl finds its plugins by name: "kubectl slurm …".
install-exec-hook:
	cd $(DESTDIR)$(bindir) && $(LN_S) -f slurmk8s kubectl-slurm

uninstall-hook:
	rm -f $(DESTDIR)$(bindir)/kubectl-slurm
