# SPDX-License-Identifier: GPL-2.0-or-later
common_base_sources = \
	common/base/ascii.h \
	common/base/backoff.h \
	common/base/conf_lines.cc common/base/conf_lines.h \
	common/base/display_width.cc common/base/display_width.h \
	common/base/edited_json.h \
	common/base/fd_wait.cc common/base/fd_wait.h \
	common/base/frame_cutter.h \
	common/base/hexadecimal.cc common/base/hexadecimal.h \
	common/base/host_port.cc common/base/host_port.h \
	common/base/json.cc common/base/json.h \
	common/base/json_text.cc common/base/json_text.h \
	common/base/json_value.cc \
	common/base/log.cc common/base/log.h \
	common/base/mailbox.h \
	common/base/own_directory.cc common/base/own_directory.h \
	common/base/overloaded.h \
	common/base/owned_fd.h \
	common/base/padded.h \
	common/base/peer_user.cc common/base/peer_user.h \
	common/base/printable.cc common/base/printable.h \
	common/base/private_dir.cc common/base/private_dir.h \
	common/base/quantity.cc common/base/quantity.h \
	common/base/read_file.cc common/base/read_file.h \
	common/base/replace_file.cc common/base/replace_file.h \
	common/base/reported.h \
	common/base/result.cc common/base/result.h \
	common/base/stable_hash.h \
	common/base/sweep_mark.h \
	common/base/system_error.h \
	common/base/text.h \
	common/base/units.cc common/base/units.h \
	common/base/unix_address.cc common/base/unix_address.h \
	common/base/user_database.h \
	common/base/user_name.cc common/base/user_name.h \
	common/base/utf8.cc common/base/utf8.h \
	common/base/uuid.cc common/base/uuid.h \
	common/base/variable_name.h \
	common/base/wait_status.h \
	common/base/write_all.cc common/base/write_all.h
