# SPDX-License-Identifier: GPL-2.0-or-later
agent_batch_sources = \
	agent/batch/array.cc agent/batch/array.h \
	agent/batch/demand.cc agent/batch/demand.h \
	agent/batch/demand_pods.cc agent/batch/demand_pods.h \
	agent/batch/gres.cc agent/batch/gres.h \
	agent/batch/het.cc agent/batch/het.h \
	agent/batch/launcher.cc agent/batch/launcher.h \
	agent/batch/limits.cc agent/batch/limits.h \
	agent/batch/make.cc agent/batch/make.h \
	agent/batch/make_pods.cc agent/batch/make_pods.h \
	agent/batch/make_srun.cc agent/batch/make_srun.h \
	agent/batch/output_name.cc agent/batch/output_name.h \
	agent/batch/pod.cc agent/batch/pod.h \
	agent/batch/pod_parts.cc agent/batch/pod_parts.h \
	agent/batch/secret.cc \
	agent/batch/srun.cc agent/batch/srun.h \
	agent/batch/srun_map.cc agent/batch/srun_map.h \
	agent/batch/srun_maps.cc agent/batch/srun_maps.h \
	agent/batch/table.cc agent/batch/table.h \
	agent/batch/user_groups.cc agent/batch/user_groups.h \
	agent/batch/variables.cc \
	agent/batch/warning.cc agent/batch/warning.h
