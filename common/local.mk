# SPDX-License-Identifier: GPL-2.0-or-later
# Five libraries, each of which knows those above it only: see doc/layers. That of
# common/web has common/metrics, too.
include common/base/local.mk
include common/contract/local.mk
include common/kube/local.mk
include common/metrics/local.mk
include common/web/local.mk
include common/slurm/local.mk

noinst_LTLIBRARIES += common/base/libbase.la common/contract/libcontract.la \
	common/kube/libkube.la common/web/libweb.la \
	common/slurm/libslurmcalls.la
common_base_libbase_la_SOURCES = $(common_base_sources)
common_base_libbase_la_CXXFLAGS = $(SANITIZED_CXXFLAGS)
common_contract_libcontract_la_SOURCES = $(common_contract_sources)
common_contract_libcontract_la_CXXFLAGS = $(SANITIZED_CXXFLAGS)
common_kube_libkube_la_SOURCES = $(common_kube_sources)
common_kube_libkube_la_CXXFLAGS = $(SANITIZED_CXXFLAGS)
common_web_libweb_la_SOURCES = $(common_metrics_sources) $(common_web_sources)
common_web_libweb_la_CXXFLAGS = $(SANITIZED_CXXFLAGS)
common_slurm_libslurmcalls_la_SOURCES = $(common_slurm_sources)
common_slurm_libslurmcalls_la_CXXFLAGS = $(SANITIZED_CXXFLAGS)

# Plugins are built without the sanitizers that programs may be built with, so
# they need objects of their own in that case.
EXTRA_LTLIBRARIES += common/libplugincommon.la
common_libplugincommon_la_SOURCES = \
	$(common_base_sources) $(common_contract_sources)
$(common_base_libbase_la_OBJECTS) $(common_contract_libcontract_la_OBJECTS) \
$(common_kube_libkube_la_OBJECTS) $(common_web_libweb_la_OBJECTS) \
$(common_slurm_libslurmcalls_la_OBJECTS) \
$(common_libplugincommon_la_OBJECTS): $(pch)

if SANITIZERS
plugin_common = common/libplugincommon.la
else
plugin_common = common/contract/libcontract.la common/base/libbase.la
endif

EXTRA_DIST += common/base/precompiled.h
