# SPDX-License-Identifier: GPL-2.0-or-later
# slurmk8sd. The folders are layers: doc/layers says what each may include.
include agent/objects/local.mk
include agent/cel/local.mk
include agent/claims/local.mk
include agent/gres/local.mk
include agent/nodes/local.mk
include agent/gang/local.mk
include agent/decide/local.mk
include agent/calls/local.mk
include agent/act/local.mk
include agent/batch/local.mk
include agent/workers/local.mk
include agent/session/local.mk
include agent/metrics/local.mk
include agent/owner/local.mk
include agent/daemon/local.mk

# The folders that ask and tell nobody anything: what is read, and what follows
# from it. The fuzz program is made of them, too.
agent_pure_sources = \
	$(agent_objects_sources) \
	$(agent_cel_sources) \
	$(agent_claims_sources) \
	$(agent_gres_sources) \
	$(agent_nodes_sources) \
	$(agent_gang_sources) \
	$(agent_decide_sources)

# The agent is a library, so that the unit tests link the same code.
noinst_LTLIBRARIES += agent/libagent.la
agent_libagent_la_SOURCES = \
	$(agent_pure_sources) \
	$(agent_calls_sources) \
	$(agent_act_sources) \
	$(agent_batch_sources) \
	$(agent_workers_sources) \
	$(agent_session_sources) \
	$(agent_metrics_sources) \
	$(agent_owner_sources) \
	$(agent_daemon_sources)
agent_libagent_la_CXXFLAGS = $(SANITIZED_CXXFLAGS)
$(agent_libagent_la_OBJECTS): $(pch)

# The agent with all that it stands on, in the order of the linker.
agent_libraries = agent/libagent.la common/web/libweb.la \
	common/slurm/libslurmcalls.la \
	common/kube/libkube.la common/contract/libcontract.la \
	common/base/libbase.la
agent_system_libraries = $(CURL_LIBS) $(OPENSSL_LIBS) $(HTTPLIB_LIBS) \
	$(RE2_LIBS) $(SLURM_LIBS)

sbin_PROGRAMS += slurmk8sd
slurmk8sd_SOURCES = agent/daemon/main.cc agent/daemon/serve.cc \
	agent/daemon/serve.h
slurmk8sd_CPPFLAGS = $(plain_cppflags) -DPKGLIBEXECDIR=\"$(pkglibexecdir)\"
slurmk8sd_CXXFLAGS = $(SANITIZED_CXXFLAGS)
slurmk8sd_LDFLAGS = $(SANITIZE)
slurmk8sd_LDADD = $(agent_libraries) $(agent_system_libraries)

EXTRA_DIST += \
	agent/objects/README.md \
	agent/metrics/README.md \
	agent/cel/README.md \
	agent/claims/README.md \
	agent/gres/README.md \
	agent/nodes/README.md \
	agent/gang/README.md \
	agent/decide/README.md \
	agent/calls/README.md \
	agent/act/README.md \
	agent/batch/README.md \
	agent/workers/README.md \
	agent/session/README.md \
	agent/owner/README.md \
	agent/daemon/README.md
