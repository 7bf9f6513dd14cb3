# SPDX-License-Identifier: GPL-2.0-or-later
common_contract_sources = \
	common/contract/autoscale.cc common/contract/autoscale.h \
	common/contract/autoscaler_names.h \
	common/contract/batch_het.cc common/contract/batch_het.h \
	common/contract/batch_names.h \
	common/contract/batch_options.cc common/contract/batch_options.h \
	common/contract/batch_script.cc common/contract/batch_script.h \
	common/contract/batch_template.cc common/contract/batch_template.h \
	common/contract/burst_rule.cc common/contract/burst_rule.h \
	common/contract/capacity_gres.cc common/contract/capacity_gres.h \
	common/contract/conf.cc common/contract/conf.h \
	common/contract/constraints.cc common/contract/constraints.h \
	common/contract/controllers.cc common/contract/controllers.h \
	common/contract/device_gres.cc common/contract/device_gres.h \
	common/contract/feature_labels.cc common/contract/feature_labels.h \
	common/contract/gres_words.h \
	common/contract/hook_message.cc common/contract/hook_message.h \
	common/contract/image_name.cc common/contract/image_name.h \
	common/contract/job_ref.cc common/contract/job_ref.h \
	common/contract/kubelet_features.h \
	common/contract/login_dir.cc common/contract/login_dir.h \
	common/contract/name_pattern.cc common/contract/name_pattern.h \
	common/contract/names.h \
	common/contract/packet_socket.cc common/contract/packet_socket.h \
	common/contract/node_pool.cc common/contract/node_pool.h \
	common/contract/priority_class.cc common/contract/priority_class.h \
	common/contract/script_dir.cc common/contract/script_dir.h \
	common/contract/session_conf.cc common/contract/session_conf.h \
	common/contract/session_frame.cc common/contract/session_frame.h \
	common/contract/session_request.cc common/contract/session_request.h \
	common/contract/template_check.cc common/contract/template_check.h \
	common/contract/template_members.h \
	common/contract/unit_user.cc common/contract/unit_user.h \
	common/contract/worker_names.h \
	common/contract/worker_request.cc common/contract/worker_request.h
