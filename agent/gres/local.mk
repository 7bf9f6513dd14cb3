# SPDX-License-Identifier: GPL-2.0-or-later
agent_gres_sources = \
	agent/gres/amounts.cc agent/gres/amounts.h \
	agent/gres/catalog.cc agent/gres/catalog.h \
	agent/gres/cel_limits.h \
	agent/gres/cel_shares.h \
	agent/gres/claim_cpus.cc agent/gres/claim_cpus.h \
	agent/gres/claim_plan.cc agent/gres/claim_plan.h \
	agent/gres/claim_search.cc agent/gres/claim_search.h \
	agent/gres/claim_shares.cc \
	agent/gres/claim_sharing.cc agent/gres/claim_sharing.h \
	agent/gres/claim_store.cc agent/gres/claim_store.h \
	agent/gres/cpu_choice.cc agent/gres/cpu_choice.h \
	agent/gres/device_ask.cc agent/gres/device_ask.h \
	agent/gres/device_fits.cc agent/gres/device_fits.h \
	agent/gres/device_question.h \
	agent/gres/device_store.cc agent/gres/device_store.h \
	agent/gres/evaluator.cc agent/gres/evaluator.h \
	agent/gres/extended_claim.cc agent/gres/extended_claim.h \
	agent/gres/fit_counts.cc agent/gres/fit_counts.h \
	agent/gres/gang_devices.h \
	agent/gres/index.cc agent/gres/index.h \
	agent/gres/inventory.cc agent/gres/inventory.h \
	agent/gres/kept_answers.cc agent/gres/kept_answers.h \
	agent/gres/kept_plan.cc agent/gres/kept_plan.h \
	agent/gres/memo.cc agent/gres/memo.h \
	agent/gres/needs.cc agent/gres/needs.h \
	agent/gres/plan_results.cc agent/gres/plan_results.h \
	agent/gres/plugin_resources.cc agent/gres/plugin_resources.h \
	agent/gres/question_queue.cc agent/gres/question_queue.h
