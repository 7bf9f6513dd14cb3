# SPDX-License-Identifier: GPL-2.0-or-later
common_kube_sources = \
	common/kube/base64.cc common/kube/base64.h \
	common/kube/endpoint.cc common/kube/endpoint.h \
	common/kube/http.cc common/kube/http.h \
	common/kube/http_bytes.cc common/kube/http_bytes.h \
	common/kube/http_impl.h \
	common/kube/http_stream.cc \
	common/kube/http_transfer.cc \
	common/kube/lease.h \
	common/kube/lease_api.cc common/kube/lease_api.h \
	common/kube/line_framer.cc common/kube/line_framer.h \
	common/kube/reflector.cc common/kube/reflector.h \
	common/kube/request_kind.cc common/kube/request_kind.h \
	common/kube/socket.cc common/kube/socket.h \
	common/kube/status.cc common/kube/status.h \
	common/kube/text.cc common/kube/text.h \
	common/kube/token_claims.cc common/kube/token_claims.h \
	common/kube/token_file.cc common/kube/token_file.h \
	common/kube/websocket.cc common/kube/websocket.h
