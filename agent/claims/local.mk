# SPDX-License-Identifier: GPL-2.0-or-later
agent_claims_sources = \
	agent/claims/allocation.cc agent/claims/allocation.h \
	agent/claims/check.cc agent/claims/check.h \
	agent/claims/constraints.cc agent/claims/constraints.h \
	agent/claims/consumed_capacity.cc agent/claims/consumed_capacity.h \
	agent/claims/cpu_devices.cc agent/claims/cpu_devices.h \
	agent/claims/device_fit.cc \
	agent/claims/pools.cc agent/claims/pools.h \
	agent/claims/resource_claim.cc agent/claims/resource_claim.h \
	agent/claims/resource_slice.cc agent/claims/resource_slice.h
