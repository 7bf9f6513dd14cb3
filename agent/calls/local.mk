# SPDX-License-Identifier: GPL-2.0-or-later
agent_calls_sources = \
	agent/calls/access.cc agent/calls/access.h \
	agent/calls/call_counts.cc agent/calls/call_counts.h \
	agent/calls/counted_census.h \
	agent/calls/endpoint.cc agent/calls/endpoint.h \
	agent/calls/fault_points.h \
	agent/calls/gated_http.cc agent/calls/gated_http.h \
	agent/calls/guarded_lease.h \
	agent/calls/guarded_queue.h \
	agent/calls/guarded_slurm.h \
	agent/calls/kube_api.cc agent/calls/kube_api.h \
	agent/calls/kube_batch.cc \
	agent/calls/kube_bodies.cc agent/calls/kube_bodies.h \
	agent/calls/kube_claims.cc \
	agent/calls/kube_volumes.cc \
	agent/calls/task_queue.cc agent/calls/task_queue.h \
	agent/calls/token_request.cc agent/calls/token_request.h \
	agent/calls/volume_list.cc agent/calls/volume_list.h \
	agent/calls/workers.cc agent/calls/workers.h \
	agent/calls/write_gate.h
if FAULT_POINTS
agent_calls_sources += agent/calls/fault_points.cc
endif
