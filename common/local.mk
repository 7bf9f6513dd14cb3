# libcommon is linked into the plugins, libcommon_sanitized into the programs.
noinst_LTLIBRARIES += common/libcommon.la
common_libcommon_la_SOURCES = \
	common/batch_names.h \
	common/batch_options.cc common/batch_options.h \
	common/batch_script.cc common/batch_script.h \
	common/batch_template.cc common/batch_template.h \
	common/template_check.cc common/template_check.h \
	common/template_members.h \
	common/image_name.cc common/image_name.h \
	common/conf.cc common/conf.h \
	common/device_gres.cc common/device_gres.h \
	common/feature_labels.cc common/feature_labels.h \
	common/hook_message.cc common/hook_message.h \
	common/job_ref.cc common/job_ref.h \
	common/json.cc common/json.h \
	common/json_text.cc common/json_text.h \
	common/log.cc common/log.h \
	common/names.h \
	common/packet_socket.cc common/packet_socket.h \
	common/printable.cc common/printable.h \
	common/priority_class.cc common/priority_class.h \
	common/quantity.cc common/quantity.h \
	common/result.cc common/result.h \
	common/script_dir.cc common/script_dir.h \
	common/text.h \
	common/units.cc common/units.h

noinst_LTLIBRARIES += common/libcommon_sanitized.la
common_libcommon_sanitized_la_SOURCES = $(common_libcommon_la_SOURCES)
common_libcommon_sanitized_la_CXXFLAGS = $(SANITIZED_CXXFLAGS)
