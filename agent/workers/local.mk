# SPDX-License-Identifier: GPL-2.0-or-later
agent_workers_sources = \
	agent/workers/conf_keeper.cc agent/workers/conf_keeper.h \
	agent/workers/decide.cc agent/workers/decide.h \
	agent/workers/demand.cc agent/workers/demand.h \
	agent/workers/keeper.cc agent/workers/keeper.h \
	agent/workers/potential.cc agent/workers/potential.h \
	agent/workers/set_keeper.cc agent/workers/set_keeper.h \
	agent/workers/worker_api.cc agent/workers/worker_api.h \
	agent/workers/worker_pod.cc agent/workers/worker_pod.h \
	agent/workers/worker_set.cc agent/workers/worker_set.h \
	agent/workers/worker_writes.cc agent/workers/worker_writes.h
