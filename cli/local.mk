bin_PROGRAMS += slurmk8s
slurmk8s_SOURCES = \
	cli/agent_client.cc cli/agent_client.h \
	cli/commands.h \
	cli/explain.cc \
	cli/slurmk8s.cc \
	cli/status.cc
slurmk8s_CPPFLAGS = $(AM_CPPFLAGS) $(HTTPLIB_CFLAGS)
slurmk8s_CXXFLAGS = $(SANITIZED_CXXFLAGS)
slurmk8s_LDFLAGS = $(SANITIZE)
slurmk8s_LDADD = common/libcommon_sanitized.la $(HTTPLIB_LIBS)

# kubectl finds its plugins by name: "kubectl slurm …".
install-exec-hook:
	cd $(DESTDIR)$(bindir) && $(LN_S) -f slurmk8s kubectl-slurm

uninstall-hook:
	rm -f $(DESTDIR)$(bindir)/kubectl-slurm
