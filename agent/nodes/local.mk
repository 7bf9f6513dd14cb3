# SPDX-License-Identifier: GPL-2.0-or-later
agent_nodes_sources = \
	agent/nodes/address.cc agent/nodes/address.h \
	agent/nodes/batches.cc agent/nodes/batches.h \
	agent/nodes/carry.cc agent/nodes/carry.h \
	agent/nodes/creation.cc agent/nodes/creation.h \
	agent/nodes/devices.cc agent/nodes/devices.h \
	agent/nodes/features.cc agent/nodes/features.h \
	agent/nodes/gres.cc agent/nodes/gres.h \
	agent/nodes/hybrid_devices.cc \
	agent/nodes/hybrid_size.cc agent/nodes/hybrid_size.h \
	agent/nodes/marks.cc agent/nodes/marks.h \
	agent/nodes/pairing.cc agent/nodes/pairing.h \
	agent/nodes/placement_table.cc agent/nodes/placement_table.h \
	agent/nodes/plan.cc agent/nodes/plan.h \
	agent/nodes/potential.cc agent/nodes/potential.h \
	agent/nodes/removal.cc agent/nodes/removal.h \
	agent/nodes/selection_pace.cc agent/nodes/selection_pace.h \
	agent/nodes/shadow_plan.cc agent/nodes/shadow_plan.h \
	agent/nodes/sizes.cc agent/nodes/sizes.h \
	agent/nodes/step.h \
	agent/nodes/sync.cc agent/nodes/sync.h \
	agent/nodes/words.cc agent/nodes/words.h
