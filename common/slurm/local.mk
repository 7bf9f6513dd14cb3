# SPDX-License-Identifier: GPL-2.0-or-later
common_slurm_sources = \
	common/slurm/accounting.cc \
	common/slurm/adoption_tier.cc common/slurm/adoption_tier.h \
	common/slurm/api.h \
	common/slurm/associations.cc \
	common/slurm/batch.cc \
	common/slurm/batch_job.h \
	common/slurm/census.cc common/slurm/census.h \
	common/slurm/census_record.cc common/slurm/census_record.h \
	common/slurm/cores.cc common/slurm/cores.h \
	common/slurm/ctl_conf.cc common/slurm/ctl_conf.h \
	common/slurm/database.h \
	common/slurm/error.cc common/slurm/error.h \
	common/slurm/gres_counts.cc common/slurm/gres_counts.h \
	common/slurm/gres_sums.h \
	common/slurm/het.cc \
	common/slurm/het_job.cc common/slurm/het_job.h \
	common/slurm/job.cc common/slurm/job.h \
	common/slurm/job_gres.cc common/slurm/job_gres.h \
	common/slurm/job_queue.cc common/slurm/job_queue.h \
	common/slurm/job_record.cc common/slurm/job_record.h \
	common/slurm/job_share.cc common/slurm/job_share.h \
	common/slurm/jobs.cc \
	common/slurm/load_controllers.cc common/slurm/load_controllers.h \
	common/slurm/node_record.h \
	common/slurm/node_size.h \
	common/slurm/node_state.cc common/slurm/node_state.h \
	common/slurm/node_use.cc common/slurm/node_use.h \
	common/slurm/nodes.cc \
	common/slurm/partition.h \
	common/slurm/partition_record.cc common/slurm/partition_record.h \
	common/slurm/partitions.cc \
	common/slurm/queue.cc common/slurm/queue.h \
	common/slurm/queue_wants.cc common/slurm/queue_wants.h \
	common/slurm/reasons.cc common/slurm/reasons.h \
	common/slurm/request.cc common/slurm/request.h \
	common/slurm/shadow_partitions.cc common/slurm/shadow_partitions.h \
	common/slurm/state_tests.cc common/slurm/state_tests.h \
	common/slurm/states.h \
	common/slurm/strings.cc common/slurm/strings.h \
	common/slurm/submitted.h \
	common/slurm/tres_memory.cc common/slurm/tres_memory.h \
	common/slurm/uses.cc \
	common/slurm/waiting_job.cc common/slurm/waiting_job.h
