# SPDX-License-Identifier: GPL-2.0-or-later
agent_daemon_sources = \
	agent/daemon/access_watch.cc agent/daemon/access_watch.h \
	agent/daemon/census_thread.cc agent/daemon/census_thread.h \
	agent/daemon/group_watch.cc agent/daemon/group_watch.h \
	agent/daemon/hook_server.cc agent/daemon/hook_server.h \
	agent/daemon/lease.cc agent/daemon/lease.h \
	agent/daemon/lease_keeper.cc agent/daemon/lease_keeper.h \
	agent/daemon/memory_thread.cc agent/daemon/memory_thread.h \
	agent/daemon/metrics_access.cc agent/daemon/metrics_access.h \
	agent/daemon/notify.cc agent/daemon/notify.h \
	agent/daemon/own_conf.cc agent/daemon/own_conf.h \
	agent/daemon/permit.cc agent/daemon/permit.h \
	agent/daemon/set_scaler_thread.cc \
	agent/daemon/set_scaler_thread.h \
	agent/daemon/socket_probe.cc agent/daemon/socket_probe.h \
	agent/daemon/token_keeper.cc agent/daemon/token_keeper.h \
	agent/daemon/watch_failures.h \
	agent/daemon/watches.cc agent/daemon/watches.h \
	agent/daemon/web.cc agent/daemon/web.h \
	agent/daemon/web_pages.cc agent/daemon/web_pages.h \
	agent/daemon/worker_thread.cc agent/daemon/worker_thread.h \
	agent/daemon/worker_writers.cc agent/daemon/worker_writers.h \
	agent/daemon/write_loop.h
