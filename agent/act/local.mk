# SPDX-License-Identifier: GPL-2.0-or-later
agent_act_sources = \
	agent/act/act.cc agent/act/act.h \
	agent/act/bind.cc agent/act/bind.h \
	agent/act/claims.cc agent/act/claims.h \
	agent/act/end.cc agent/act/end.h \
	agent/act/extended.cc agent/act/extended.h \
	agent/act/gang.cc agent/act/gang.h \
	agent/act/remake.cc agent/act/remake.h \
	agent/act/workload_wishes.cc agent/act/workload_wishes.h
