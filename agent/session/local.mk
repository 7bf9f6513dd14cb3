# SPDX-License-Identifier: GPL-2.0-or-later
agent_session_sources = \
	agent/session/job_pod.cc agent/session/job_pod.h \
	agent/session/job_session.cc agent/session/job_session.h \
	agent/session/login_check.cc agent/session/login_check.h \
	agent/session/peer_stream.cc agent/session/peer_stream.h \
	agent/session/places.cc agent/session/places.h \
	agent/session/pod_exec.cc agent/session/pod_exec.h \
	agent/session/server.cc agent/session/server.h \
	agent/session/socket.cc agent/session/socket.h \
	agent/session/tls.cc agent/session/tls.h
