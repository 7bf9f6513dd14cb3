# libcommon is linked into the plugins, libcommon_sanitized into the programs.
noinst_LTLIBRARIES += common/libcommon.la
common_libcommon_la_SOURCES = \
	common/ascii.h \
	common/batch_het.cc common/batch_het.h \
	common/batch_names.h \
	common/batch_options.cc common/batch_options.h \
	common/batch_script.cc common/batch_script.h \
	common/batch_template.cc common/batch_template.h \
	common/template_check.cc common/template_check.h \
	common/template_members.h \
	common/image_name.cc common/image_name.h \
	common/capacity_gres.cc common/capacity_gres.h \
	common/conf.cc common/conf.h \
	common/constraints.cc common/constraints.h \
	common/conf_lines.cc common/conf_lines.h \
	common/device_gres.cc common/device_gres.h \
	common/gres_words.h \
	common/feature_labels.cc common/feature_labels.h \
	common/frame_cutter.h \
	common/hexadecimal.cc common/hexadecimal.h \
	common/hook_message.cc common/hook_message.h \
	common/job_ref.cc common/job_ref.h \
	common/json.cc common/json.h \
	common/json_text.cc common/json_text.h \
	common/json_value.cc \
	common/kubelet_features.h \
	common/log.cc common/log.h \
	common/login_dir.cc common/login_dir.h \
	common/name_pattern.cc common/name_pattern.h \
	common/names.h \
	common/own_directory.cc common/own_directory.h \
	common/owned_fd.h \
	common/packet_socket.cc common/packet_socket.h \
	common/padded.h \
	common/peer_user.cc common/peer_user.h \
	common/printable.cc common/printable.h \
	common/priority_class.cc common/priority_class.h \
	common/private_dir.cc common/private_dir.h \
	common/quantity.cc common/quantity.h \
	common/result.cc common/result.h \
	common/script_dir.cc common/script_dir.h \
	common/session_conf.cc common/session_conf.h \
	common/session_frame.cc common/session_frame.h \
	common/session_request.cc common/session_request.h \
	common/system_error.h \
	common/text.h \
	common/unix_address.cc common/unix_address.h \
	common/units.cc common/units.h \
	common/utf8.cc common/utf8.h \
	common/uuid.cc common/uuid.h \
	common/variable_name.h \
	common/write_all.cc common/write_all.h

noinst_LTLIBRARIES += common/libcommon_sanitized.la
common_libcommon_sanitized_la_SOURCES = $(common_libcommon_la_SOURCES)
common_libcommon_sanitized_la_CXXFLAGS = $(SANITIZED_CXXFLAGS)
