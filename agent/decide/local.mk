# SPDX-License-Identifier: GPL-2.0-or-later
agent_decide_sources = \
	agent/decide/batch_gang.cc agent/decide/batch_gang.h \
	agent/decide/decide.cc agent/decide/decide.h \
	agent/decide/decide_batch.cc agent/decide/decide_batch.h \
	agent/decide/decide_batch_gang.cc agent/decide/decide_batch_gang.h \
	agent/decide/decide_gang.cc agent/decide/decide_gang.h \
	agent/decide/decide_parts.cc agent/decide/decide_parts.h \
	agent/decide/end_status.cc agent/decide/end_status.h \
	agent/decide/gang_place.cc agent/decide/gang_place.h \
	agent/decide/gang_shapes.cc agent/decide/gang_shapes.h \
	agent/decide/identity.cc agent/decide/identity.h \
	agent/decide/job_requests.cc agent/decide/job_requests.h \
	agent/decide/job_times.cc \
	agent/decide/job_values.cc agent/decide/job_values.h \
	agent/decide/messages.cc agent/decide/messages.h \
	agent/decide/pending_quota.cc agent/decide/pending_quota.h \
	agent/decide/refusals.cc agent/decide/refusals.h \
	agent/decide/too_large.cc agent/decide/too_large.h \
	agent/decide/translate.cc agent/decide/translate.h \
	agent/decide/wish_table.cc agent/decide/wish_table.h
