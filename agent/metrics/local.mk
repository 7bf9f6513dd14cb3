# SPDX-License-Identifier: GPL-2.0-or-later
agent_metrics_sources = \
	agent/metrics/census_pace.cc agent/metrics/census_pace.h \
	agent/metrics/families.h \
	agent/metrics/job_history.cc agent/metrics/job_history.h \
	agent/metrics/people.cc agent/metrics/people.h \
	agent/metrics/slurm_metrics.cc agent/metrics/slurm_metrics.h \
	agent/metrics/slurm_numbers.cc agent/metrics/slurm_numbers.h \
	agent/metrics/sums.cc agent/metrics/sums.h \
	agent/metrics/user_names.h
