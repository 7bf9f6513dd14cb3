# SPDX-License-Identifier: GPL-2.0-or-later
agent_owner_sources = \
	agent/owner/adoptions.cc agent/owner/adoptions.h \
	agent/owner/agenda.cc agent/owner/agenda.h \
	agent/owner/attempts.cc agent/owner/attempts.h \
	agent/owner/batch_caches.h \
	agent/owner/batch_end_times.cc agent/owner/batch_end_times.h \
	agent/owner/batch_hosts.cc agent/owner/batch_hosts.h \
	agent/owner/batch_intake.cc agent/owner/batch_intake.h \
	agent/owner/batch_jobs.cc agent/owner/batch_jobs.h \
	agent/owner/batch_marks.cc agent/owner/batch_marks.h \
	agent/owner/batch_pods.cc agent/owner/batch_pods.h \
	agent/owner/batch_tidy.cc agent/owner/batch_tidy.h \
	agent/owner/claim_needs.cc agent/owner/claim_needs.h \
	agent/owner/claim_users.cc agent/owner/claim_users.h \
	agent/owner/context.h \
	agent/owner/creation_time.h \
	agent/owner/device_answers.cc agent/owner/device_answers.h \
	agent/owner/device_messages.cc \
	agent/owner/device_plan.cc agent/owner/device_plan.h \
	agent/owner/device_troubles.cc agent/owner/device_troubles.h \
	agent/owner/dispatch.cc agent/owner/dispatch.h \
	agent/owner/early_hooks.cc agent/owner/early_hooks.h \
	agent/owner/errands.h \
	agent/owner/explain.cc agent/owner/explain.h \
	agent/owner/explain_page.cc agent/owner/explain_page.h \
	agent/owner/extended_claims.cc agent/owner/extended_claims.h \
	agent/owner/failures.cc agent/owner/failures.h \
	agent/owner/first_lists.h \
	agent/owner/gang_device_facts.cc agent/owner/gang_device_facts.h \
	agent/owner/gang_jobs.cc agent/owner/gang_jobs.h \
	agent/owner/gang_turns.cc agent/owner/gang_turns.h \
	agent/owner/grace_limits.cc agent/owner/grace_limits.h \
	agent/owner/group_looks.cc agent/owner/group_looks.h \
	agent/owner/group_times.cc agent/owner/group_times.h \
	agent/owner/groups.cc agent/owner/groups.h \
	agent/owner/health.cc agent/owner/health.h \
	agent/owner/held_pods.cc agent/owner/held_pods.h \
	agent/owner/het_jobs.cc agent/owner/het_jobs.h \
	agent/owner/hook_messages.cc \
	agent/owner/lost_nodes.cc agent/owner/lost_nodes.h \
	agent/owner/job_lists.cc agent/owner/job_lists.h \
	agent/owner/job_sync.cc agent/owner/job_sync.h \
	agent/owner/job_messages.cc \
	agent/owner/known_devices.cc agent/owner/known_devices.h \
	agent/owner/known_nodes.cc agent/owner/known_nodes.h \
	agent/owner/message.h \
	agent/owner/news.h \
	agent/owner/node_demands.cc agent/owner/node_demands.h \
	agent/owner/node_marks.cc agent/owner/node_marks.h \
	agent/owner/node_sync.cc agent/owner/node_sync.h \
	agent/owner/node_messages.cc \
	agent/owner/outcomes.cc agent/owner/outcomes.h \
	agent/owner/outside_pods.cc agent/owner/outside_pods.h \
	agent/owner/owner.cc agent/owner/owner.h \
	agent/owner/parts.h \
	agent/owner/pauses.h \
	agent/owner/permission.cc agent/owner/permission.h \
	agent/owner/pins.h \
	agent/owner/placement.cc agent/owner/placement.h \
	agent/owner/plugin_connection.h \
	agent/owner/plugin_line.cc agent/owner/plugin_line.h \
	agent/owner/pod_ends.cc agent/owner/pod_ends.h \
	agent/owner/pod_messages.cc \
	agent/owner/ports.h \
	agent/owner/predicate_memo.cc agent/owner/predicate_memo.h \
	agent/owner/queue_places.cc agent/owner/queue_places.h \
	agent/owner/room.cc agent/owner/room.h \
	agent/owner/seat_devices.cc agent/owner/seat_devices.h \
	agent/owner/shadows.cc agent/owner/shadows.h \
	agent/owner/shared_claims.cc agent/owner/shared_claims.h \
	agent/owner/status.cc agent/owner/status.h \
	agent/owner/steps.cc agent/owner/steps.h \
	agent/owner/story.cc \
	agent/owner/sync_times.cc agent/owner/sync_times.h \
	agent/owner/turn.cc \
	agent/owner/voice.cc agent/owner/voice.h \
	agent/owner/volume_looks.cc agent/owner/volume_looks.h \
	agent/owner/wait_messages.cc agent/owner/wait_messages.h
