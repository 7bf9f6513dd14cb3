# SPDX-License-Identifier: GPL-2.0-or-later
common_metrics_sources = \
	common/metrics/histogram.cc common/metrics/histogram.h \
	common/metrics/metric_text.cc common/metrics/metric_text.h \
	common/metrics/sample_text.cc common/metrics/sample_text.h
