# SPDX-License-Identifier: GPL-2.0-or-later
common_web_sources = \
	common/web/page_callers.cc common/web/page_callers.h \
	common/web/page_server.cc common/web/page_server.h
