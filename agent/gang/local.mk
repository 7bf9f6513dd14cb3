# SPDX-License-Identifier: GPL-2.0-or-later
agent_gang_sources = \
	agent/gang/action.cc agent/gang/action.h \
	agent/gang/batch_mark.cc agent/gang/batch_mark.h \
	agent/gang/batch_place.cc agent/gang/batch_place.h \
	agent/gang/facts.cc agent/gang/facts.h \
	agent/gang/flags.cc agent/gang/flags.h \
	agent/gang/gang_facts.h \
	agent/gang/gang.cc agent/gang/gang.h \
	agent/gang/group_reports.cc agent/gang/group_reports.h \
	agent/gang/group_table.cc agent/gang/group_table.h \
	agent/gang/job_choice.cc agent/gang/job_choice.h \
	agent/gang/node_gate.cc agent/gang/node_gate.h \
	agent/gang/store.cc agent/gang/store.h \
	agent/gang/vanished_pods.cc agent/gang/vanished_pods.h \
	agent/gang/volumes.cc agent/gang/volumes.h
