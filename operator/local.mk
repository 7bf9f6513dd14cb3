# SPDX-License-Identifier: GPL-2.0-or-later
# slurmk8s-operator. It knows Kubernetes only: nothing of Slurm is linked.
operator_decide_sources = \
	operator/decide/accounting.cc operator/decide/accounting.h \
	operator/decide/agent_state.cc operator/decide/agent_state.h \
	operator/decide/autoscale.cc operator/decide/autoscale.h \
	operator/decide/claims.cc operator/decide/claims.h \
	operator/decide/cluster.cc operator/decide/cluster.h \
	operator/decide/cluster_objects.cc operator/decide/cluster_objects.h \
	operator/decide/config_state.cc operator/decide/config_state.h \
	operator/decide/configuration.cc operator/decide/configuration.h \
	operator/decide/controller_pod.cc operator/decide/controller_pod.h \
	operator/decide/daemon_pod.cc operator/decide/daemon_pod.h \
	operator/decide/decide.cc operator/decide/decide.h \
	operator/decide/decide_others.cc \
	operator/decide/ending.cc operator/decide/ending.h \
	operator/decide/gres_order.cc operator/decide/gres_order.h \
	operator/decide/json_merge.cc operator/decide/json_merge.h \
	operator/decide/jwks.cc operator/decide/jwks.h \
	operator/decide/k8s_conf.cc operator/decide/k8s_conf.h \
	operator/decide/made.cc operator/decide/made.h \
	operator/decide/metadata.cc operator/decide/metadata.h \
	operator/decide/names.cc operator/decide/names.h \
	operator/decide/node_conf.cc operator/decide/node_conf.h \
	operator/decide/node_fit.cc operator/decide/node_fit.h \
	operator/decide/node_set_status.cc operator/decide/node_set_status.h \
	operator/decide/objects.cc operator/decide/objects.h \
	operator/decide/places.cc operator/decide/places.h \
	operator/decide/protect.cc operator/decide/protect.h \
	operator/decide/release_order.cc operator/decide/release_order.h \
	operator/decide/revisions.cc operator/decide/revisions.h \
	operator/decide/said.cc operator/decide/said.h \
	operator/decide/scale.cc operator/decide/scale.h \
	operator/decide/site_files.cc operator/decide/site_files.h \
	operator/decide/slurm_conf.cc operator/decide/slurm_conf.h \
	operator/decide/status.cc operator/decide/status.h \
	operator/decide/step.cc operator/decide/step.h \
	operator/decide/trial.cc operator/decide/trial.h \
	operator/decide/trial_text.cc operator/decide/trial_text.h \
	operator/decide/unserved.cc operator/decide/unserved.h \
	operator/decide/update.cc operator/decide/update.h \
	operator/decide/worker_pod.cc operator/decide/worker_pod.h \
	operator/decide/workers_service.cc operator/decide/workers_service.h
operator_daemon_sources = \
	operator/daemon/actor.cc operator/daemon/actor.h \
	operator/daemon/lanes.cc operator/daemon/lanes.h \
	operator/daemon/leader.cc operator/daemon/leader.h \
	operator/daemon/left.cc operator/daemon/left.h \
	operator/daemon/metrics.cc operator/daemon/metrics.h \
	operator/daemon/news.cc operator/daemon/news.h \
	operator/daemon/options.cc operator/daemon/options.h \
	operator/daemon/owner.cc operator/daemon/owner.h \
	operator/daemon/rests.cc operator/daemon/rests.h \
	operator/daemon/watches.cc operator/daemon/watches.h \
	operator/daemon/work.h

# A library, so that the unit tests link the same code.
noinst_LTLIBRARIES += operator/liboperator.la
operator_liboperator_la_SOURCES = $(operator_decide_sources) \
	$(operator_daemon_sources)
operator_liboperator_la_CXXFLAGS = $(SANITIZED_CXXFLAGS)
$(operator_liboperator_la_OBJECTS): $(pch)

sbin_PROGRAMS += slurmk8s-operator
slurmk8s_operator_SOURCES = operator/daemon/main.cc operator/daemon/serve.cc \
	operator/daemon/serve.h
slurmk8s_operator_CPPFLAGS = $(plain_cppflags)
slurmk8s_operator_CXXFLAGS = $(SANITIZED_CXXFLAGS)
slurmk8s_operator_LDFLAGS = $(SANITIZE)
slurmk8s_operator_LDADD = operator/liboperator.la common/web/libweb.la common/kube/libkube.la \
	common/contract/libcontract.la common/base/libbase.la \
	$(CURL_LIBS) $(OPENSSL_LIBS) $(HTTPLIB_LIBS)

EXTRA_DIST += \
	operator/README.md \
	operator/decide/README.md \
	operator/daemon/README.md
