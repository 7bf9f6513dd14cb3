# SPDX-License-Identifier: GPL-2.0-or-later
agent_objects_sources = \
	agent/objects/busy_marks.cc agent/objects/busy_marks.h \
	agent/objects/device.h \
	agent/objects/digest.cc agent/objects/digest.h \
	agent/objects/extended_resources.cc agent/objects/extended_resources.h \
	agent/objects/foreign_pods.cc agent/objects/foreign_pods.h \
	agent/objects/gang_key.cc agent/objects/gang_key.h \
	agent/objects/group_spec.cc agent/objects/group_spec.h \
	agent/objects/node_map.h \
	agent/objects/node_patch.h \
	agent/objects/objects.cc agent/objects/objects.h \
	agent/objects/owner_reference.cc agent/objects/owner_reference.h \
	agent/objects/plugin_offer.cc agent/objects/plugin_offer.h \
	agent/objects/pod_claims.cc agent/objects/pod_claims.h \
	agent/objects/pod_cpus.cc agent/objects/pod_cpus.h \
	agent/objects/pod_group_status.cc agent/objects/pod_group_status.h \
	agent/objects/pod_placement.cc agent/objects/pod_placement.h \
	agent/objects/pod_requests.cc agent/objects/pod_requests.h \
	agent/objects/pod_start.cc agent/objects/pod_start.h \
	agent/objects/pool_node.cc agent/objects/pool_node.h \
	agent/objects/predicate.cc agent/objects/predicate.h \
	agent/objects/predicate_text.cc agent/objects/predicate_text.h \
	agent/objects/semver.cc agent/objects/semver.h \
	agent/objects/unsupported_spec.cc agent/objects/unsupported_spec.h \
	agent/objects/volumes.cc agent/objects/volumes.h
