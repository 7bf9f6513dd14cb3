# SPDX-License-Identifier: GPL-2.0-or-later
# One program has all unit tests; tests/run starts the others. They are no part
# of "make check", since they need a sandbox.
if HAVE_DOCTEST
check_PROGRAMS += tests/unit/unit_tests
TESTS += tests/unit/unit_tests
else
# Comes after the sum of the tests that are run.
check-local:
	@echo '*****************************************************************'
	@echo '*** The unit tests were NOT run: configure found no doctest.  ***'
	@echo '*** Install doctest-dev (RPM: doctest-devel), configure again ***'
	@echo '*** and repeat "make check".                                  ***'
	@echo '*****************************************************************'
endif

# Each folder includes only what doc/layers allows.
TESTS += tests/layers

tests_unit_unit_tests_SOURCES = \
	tests/unit/fuzz_corpus_test.cc \
	tests/unit/main.cc \
	tests/unit/act/bind_test.cc \
	tests/unit/act/act_claims_test.cc \
	tests/unit/act/act_extended_test.cc \
	tests/unit/act/owners_test.cc \
	tests/unit/batch/act_batch_test.cc \
	tests/unit/batch/batch_array_test.cc \
	tests/unit/batch/batch_gres_test.cc \
	tests/unit/batch/batch_het_test.cc \
	tests/unit/batch/batch_launcher_test.cc \
	tests/unit/batch/batch_pod_test.cc \
	tests/unit/batch/batch_srun_test.cc \
	tests/unit/batch/demand_pods_test.cc \
	tests/unit/batch/demand_test.cc \
	tests/unit/batch/output_name_test.cc \
	tests/unit/batch/srun_maps_test.cc \
	tests/unit/calls/access_test.cc \
	tests/unit/calls/call_counts_test.cc \
	tests/unit/calls/kube_api_test.cc \
	tests/unit/calls/kube_bodies_test.cc \
	tests/unit/calls/kube_volumes_test.cc \
	tests/unit/calls/task_queue_test.cc \
	tests/unit/calls/token_request_test.cc \
	tests/unit/calls/volume_list_test.cc \
	tests/unit/calls/workers_test.cc \
	tests/unit/calls/write_gate_test.cc \
	tests/unit/cel/cel_test.cc \
	tests/unit/cel/answers_test.cc \
	tests/unit/cel/device.h \
	tests/unit/cel/regex_test.cc \
	tests/unit/claims/claim_allocation_test.cc \
	tests/unit/claims/claim_check_test.cc \
	tests/unit/claims/claim_constraints_test.cc \
	tests/unit/claims/consumed_capacity_test.cc \
	tests/unit/claims/cpu_devices_test.cc \
	tests/unit/claims/device_slices_test.cc \
	tests/unit/claims/resource_claim_test.cc \
	tests/unit/cli/check/check_burst_test.cc \
	tests/unit/cli/check/check_host_test.cc \
	tests/unit/cli/check/check_kube_test.cc \
	tests/unit/cli/check/check_names_test.cc \
	tests/unit/cli/check/check_pending_jobs_test.cc \
	tests/unit/cli/check/check_reach_test.cc \
	tests/unit/cli/check/check_slurm_test.cc \
	tests/unit/cli/check/finding_test.cc \
	tests/unit/cli/setup/conf_edit_test.cc \
	tests/unit/cli/setup/manifests_test.cc \
	tests/unit/cli/setup/opt_in_test.cc \
	tests/unit/cli/setup/setup_test.cc \
	tests/unit/cli/setup/slurm_lines_test.cc \
	tests/unit/cli/srun/srun_het_group_test.cc \
	tests/unit/cli/srun/srun_hosts_test.cc \
	tests/unit/cli/srun/srun_options_test.cc \
	tests/unit/cli/srun/srun_plan_test.cc \
	tests/unit/cli/srun/srun_tasks_test.cc \
	tests/unit/cli/srun/srun_wire_test.cc \
	tests/unit/cli/top/top_counts_test.cc \
	tests/unit/cli/top/top_pages.h \
	tests/unit/cli/top/top_screen_test.cc \
	tests/unit/cli/top/top_view_test.cc \
	tests/unit/cli/user/salloc_script_test.cc \
	tests/unit/common/base/backoff_test.cc \
	tests/unit/common/base/display_width_test.cc \
	tests/unit/common/base/host_port_test.cc \
	tests/unit/common/base/json_test.cc \
	tests/unit/common/base/json_text_test.cc \
	tests/unit/common/base/log_test.cc \
	tests/unit/common/base/mailbox_test.cc \
	tests/unit/common/base/printable_test.cc \
	tests/unit/common/base/private_dir_test.cc \
	tests/unit/common/base/quantity_test.cc \
	tests/unit/common/base/read_file_test.cc \
	tests/unit/common/base/replace_file_test.cc \
	tests/unit/common/base/sweep_mark_test.cc \
	tests/unit/common/base/text_test.cc \
	tests/unit/common/base/units_test.cc \
	tests/unit/common/base/user_database_test.cc \
	tests/unit/common/base/user_name_test.cc \
	tests/unit/common/base/uuid_test.cc \
	tests/unit/common/base/wait_status_test.cc \
	tests/unit/common/contract/autoscale_test.cc \
	tests/unit/common/contract/batch_script_test.cc \
	tests/unit/common/contract/batch_template_test.cc \
	tests/unit/common/contract/burst_rule_test.cc \
	tests/unit/common/contract/capacity_gres_test.cc \
	tests/unit/common/contract/conf_test.cc \
	tests/unit/common/contract/constraints_test.cc \
	tests/unit/common/contract/controllers_test.cc \
	tests/unit/common/contract/device_gres_test.cc \
	tests/unit/common/contract/feature_labels_test.cc \
	tests/unit/common/contract/hook_message_test.cc \
	tests/unit/common/contract/job_ref_test.cc \
	tests/unit/common/contract/login_dir_test.cc \
	tests/unit/common/contract/name_pattern_test.cc \
	tests/unit/common/contract/packet_socket_test.cc \
	tests/unit/common/contract/node_pool_test.cc \
	tests/unit/common/contract/priority_class_test.cc \
	tests/unit/common/contract/script_dir_test.cc \
	tests/unit/common/contract/session_conf_test.cc \
	tests/unit/common/contract/session_frame_test.cc \
	tests/unit/common/contract/unit_user_test.cc \
	tests/unit/common/kube/http_test.cc \
	tests/unit/common/kube/kube_status_test.cc \
	tests/unit/common/kube/kube_text_test.cc \
	tests/unit/common/kube/line_framer_test.cc \
	tests/unit/common/kube/reflector_test.cc \
	tests/unit/common/kube/request_kind_test.cc \
	tests/unit/common/kube/token_claims_test.cc \
	tests/unit/common/kube/token_file_test.cc \
	tests/unit/common/kube/websocket_test.cc \
	tests/unit/common/metrics/metric_text_test.cc \
	tests/unit/common/metrics/sample_text_test.cc \
	tests/unit/common/slurm/adoption_tier_test.cc \
	tests/unit/common/slurm/census_record_test.cc \
	tests/unit/common/slurm/gres_counts_test.cc \
	tests/unit/common/slurm/het_job_test.cc \
	tests/unit/common/slurm/job_gres_test.cc \
	tests/unit/common/slurm/job_queue_test.cc \
	tests/unit/common/slurm/job_test.cc \
	tests/unit/common/slurm/slurm_reasons_test.cc \
	tests/unit/common/slurm/queue_wants_test.cc \
	tests/unit/common/slurm/shadow_partitions_test.cc \
	tests/unit/common/slurm/slurm_record_test.cc \
	tests/unit/common/slurm/tres_memory_test.cc \
	tests/unit/common/web/page_server_test.cc \
	tests/unit/daemon/group_watch_test.cc \
	tests/unit/daemon/hook_server_test.cc \
	tests/unit/daemon/lease_keeper_test.cc \
	tests/unit/daemon/lease_test.cc \
	tests/unit/daemon/census_thread_test.cc \
	tests/unit/daemon/memory_thread_test.cc \
	tests/unit/daemon/metrics_access_test.cc \
	tests/unit/daemon/own_conf_test.cc \
	tests/unit/daemon/permit_test.cc \
	tests/unit/daemon/token_keeper_test.cc \
	tests/unit/daemon/web_test.cc \
	tests/unit/decide/batch_gang_test.cc \
	tests/unit/decide/decide_batch_test.cc \
	tests/unit/decide/decide_claims_test.cc \
	tests/unit/decide/decide_gang_test.cc \
	tests/unit/decide/decide_test.cc \
	tests/unit/decide/end_status_test.cc \
	tests/unit/decide/gang_place_test.cc \
	tests/unit/decide/gang_shapes_test.cc \
	tests/unit/decide/identity_test.cc \
	tests/unit/decide/job_requests_test.cc \
	tests/unit/decide/job_values_test.cc \
	tests/unit/decide/pending_quota_test.cc \
	tests/unit/decide/refusals_test.cc \
	tests/unit/decide/too_large_test.cc \
	tests/unit/decide/translate_test.cc \
	tests/unit/decide/messages_test.cc \
	tests/unit/fakes/call_faults.cc tests/unit/fakes/call_faults.h \
	tests/unit/fakes/decoded.h \
	tests/unit/fakes/fake_kube.cc tests/unit/fakes/fake_kube.h \
	tests/unit/fakes/fake_kube_claims.cc \
	tests/unit/fakes/fake_kube_objects.cc \
	tests/unit/fakes/fake_kube_pods.cc \
	tests/unit/fakes/fake_lease.h \
	tests/unit/fakes/fake_slurm.cc tests/unit/fakes/fake_slurm.h \
	tests/unit/fakes/fake_slurm_hooks.cc \
	tests/unit/fakes/fake_slurm_loads.cc \
	tests/unit/fakes/fake_slurm_nodes.cc \
	tests/unit/fakes/fake_slurm_scheduler.cc \
	tests/unit/fakes/fake_slurm_users.cc \
	tests/unit/fakes/frames.h \
	tests/unit/fakes/kube_contract.cc tests/unit/fakes/kube_contract.h \
	tests/unit/fakes/kube_contract_test.cc \
	tests/unit/fakes/make.h \
	tests/unit/fakes/make_devices.h \
	tests/unit/fakes/make_nodes.h \
	tests/unit/fakes/make_volumes.h \
	tests/unit/fakes/slurm_contract.cc tests/unit/fakes/slurm_contract.h \
	tests/unit/fakes/slurm_contract_test.cc \
	tests/unit/fakes/store_script.h \
	tests/unit/fakes/temporary_directory.h \
	tests/unit/fakes/test_data.h \
	tests/unit/fakes/tls_certificate.cc tests/unit/fakes/tls_certificate.h \
	tests/unit/fakes/jwt.h \
	tests/unit/fakes/tls_server.cc tests/unit/fakes/tls_server.h \
	tests/unit/fakes/world.cc tests/unit/fakes/world.h \
	tests/unit/flows/answer_world.h \
	tests/unit/flows/batch_anew_world.h \
	tests/unit/flows/batch_claim_world.h \
	tests/unit/flows/batch_desc.h \
	tests/unit/flows/batch_flows.h \
	tests/unit/flows/batch_nodes_world.h \
	tests/unit/flows/batch_srun_world.h \
	tests/unit/flows/batch_world.h \
	tests/unit/flows/bridge_adopt_claims_test.cc \
	tests/unit/flows/bridge_adopt_test.cc \
	tests/unit/flows/bridge_adoption_test.cc \
	tests/unit/flows/bridge_batch_anew_test.cc \
	tests/unit/flows/bridge_batch_array_nodes_test.cc \
	tests/unit/flows/bridge_batch_array_test.cc \
	tests/unit/flows/bridge_batch_claims_test.cc \
	tests/unit/flows/bridge_batch_crash_test.cc \
	tests/unit/flows/bridge_batch_demand_test.cc \
	tests/unit/flows/bridge_batch_het_test.cc \
	tests/unit/flows/bridge_batch_moved_test.cc \
	tests/unit/flows/bridge_batch_nodes_test.cc \
	tests/unit/flows/bridge_batch_one_srun_test.cc \
	tests/unit/flows/bridge_batch_refused_test.cc \
	tests/unit/flows/bridge_batch_srun_faults_test.cc \
	tests/unit/flows/bridge_batch_srun_hosts_test.cc \
	tests/unit/flows/bridge_batch_srun_test.cc \
	tests/unit/flows/bridge_batch_test.cc \
	tests/unit/flows/bridge_batch_tidy_test.cc \
	tests/unit/flows/bridge_claims_test.cc \
	tests/unit/flows/bridge_cpus_test.cc \
	tests/unit/flows/bridge_device_answers_test.cc \
	tests/unit/flows/bridge_device_nodes_test.cc \
	tests/unit/flows/bridge_devices_test.cc \
	tests/unit/flows/bridge_extended_test.cc \
	tests/unit/flows/bridge_gang_claims_test.cc \
	tests/unit/flows/bridge_gang_extended_test.cc \
	tests/unit/flows/bridge_gang_test.cc \
	tests/unit/flows/bridge_gate_test.cc \
	tests/unit/flows/bridge_grace_test.cc \
	tests/unit/flows/bridge_group_apis_test.cc \
	tests/unit/flows/bridge_groups_test.cc \
	tests/unit/flows/bridge_het_test.cc \
	tests/unit/flows/bridge_hooks_test.cc \
	tests/unit/flows/bridge_kube_faults_test.cc \
	tests/unit/flows/bridge_late_answers_test.cc \
	tests/unit/flows/bridge_life_test.cc \
	tests/unit/flows/bridge_long_plans_test.cc \
	tests/unit/flows/bridge_lost_jobs_test.cc \
	tests/unit/flows/bridge_nodes_test.cc \
	tests/unit/flows/bridge_placement_test.cc \
	tests/unit/flows/bridge_plugins_test.cc \
	tests/unit/flows/bridge_renew_test.cc \
	tests/unit/flows/bridge_requests_test.cc \
	tests/unit/flows/bridge_restart_test.cc \
	tests/unit/flows/bridge_shared_claims_test.cc \
	tests/unit/flows/bridge_shares_test.cc \
	tests/unit/flows/bridge_slurm_faults_test.cc \
	tests/unit/flows/bridge_volumes_test.cc \
	tests/unit/flows/bridge_waiting_test.cc \
	tests/unit/flows/claim_gang_world.h \
	tests/unit/flows/claim_world.h \
	tests/unit/flows/claims.h \
	tests/unit/flows/cpus.h \
	tests/unit/flows/full_cluster.h \
	tests/unit/flows/gang_world.h \
	tests/unit/flows/group_world.h \
	tests/unit/flows/script_world.h \
	tests/unit/gang/gang_store_test.cc \
	tests/unit/gang/gang_test.cc \
	tests/unit/gang/group_reports_test.cc \
	tests/unit/gang/job_choice_test.cc \
	tests/unit/gang/node_gate_test.cc \
	tests/unit/gang/vanished_pods_test.cc \
	tests/unit/gres/claim_cpus_test.cc \
	tests/unit/gres/claim_plan_test.cc \
	tests/unit/gres/claim_sharing_test.cc \
	tests/unit/gres/claim_store_test.cc \
	tests/unit/gres/cpu_choice_test.cc \
	tests/unit/gres/device_amounts_test.cc \
	tests/unit/gres/device_ask_test.cc \
	tests/unit/gres/device_catalog_test.cc \
	tests/unit/gres/device_index_test.cc \
	tests/unit/gres/device_inventory_test.cc \
	tests/unit/gres/device_needs_test.cc \
	tests/unit/gres/device_store_test.cc \
	tests/unit/gres/extended_claim_test.cc \
	tests/unit/gres/fit_counts_test.cc \
	tests/unit/gres/gres_memo_test.cc \
	tests/unit/gres/kept_answers_test.cc \
	tests/unit/gres/kept_plan_test.cc \
	tests/unit/gres/memo_bed.h \
	tests/unit/gres/plan_results_test.cc \
	tests/unit/gres/plugin_resources_test.cc \
	tests/unit/gres/question_queue_test.cc \
	tests/unit/metrics/census_pace_test.cc \
	tests/unit/metrics/counted.h \
	tests/unit/metrics/job_history_test.cc \
	tests/unit/metrics/people_test.cc \
	tests/unit/metrics/slurm_metrics_test.cc \
	tests/unit/metrics/slurm_numbers_test.cc \
	tests/unit/nodes/hybrid_devices_test.cc \
	tests/unit/nodes/hybrid_size_test.cc \
	tests/unit/nodes/node_devices_test.cc \
	tests/unit/nodes/node_features_test.cc \
	tests/unit/nodes/node_gres_test.cc \
	tests/unit/nodes/node_marks_test.cc \
	tests/unit/nodes/node_plan_test.cc \
	tests/unit/nodes/node_removal_test.cc \
	tests/unit/nodes/node_resize_test.cc \
	tests/unit/nodes/node_sizes_test.cc \
	tests/unit/nodes/node_state_test.cc \
	tests/unit/nodes/node_sync_test.cc \
	tests/unit/nodes/placement_table_test.cc \
	tests/unit/nodes/potential_test.cc \
	tests/unit/nodes/selection_pace_test.cc \
	tests/unit/nodes/shadow_plan_test.cc \
	tests/unit/objects/batch_pod_start_test.cc \
	tests/unit/objects/extended_resources_test.cc \
	tests/unit/objects/foreign_pods_test.cc \
	tests/unit/objects/gang_key_test.cc \
	tests/unit/objects/group_spec_test.cc \
	tests/unit/objects/objects_test.cc \
	tests/unit/objects/pod_cpus_test.cc \
	tests/unit/objects/pod_group_status_test.cc \
	tests/unit/objects/unsupported_spec_test.cc \
	tests/unit/objects/pod_placement_test.cc \
	tests/unit/objects/pod_requests_test.cc \
	tests/unit/objects/predicate_test.cc \
	tests/unit/objects/semver_test.cc \
	tests/unit/objects/volumes_test.cc \
	tests/unit/operator/autoscale_test.cc \
	tests/unit/operator/claims_test.cc \
	tests/unit/operator/cluster_test.cc \
	tests/unit/operator/decide_test.cc \
	tests/unit/operator/gres_order_test.cc \
	tests/unit/operator/json_merge_test.cc \
	tests/unit/operator/jwks_test.cc \
	tests/unit/operator/k8s_conf_test.cc \
	tests/unit/operator/leader_test.cc \
	tests/unit/operator/left_test.cc \
	tests/unit/operator/make.h \
	tests/unit/operator/make_cluster.h \
	tests/unit/operator/metrics_test.cc \
	tests/unit/operator/names_test.cc \
	tests/unit/operator/node_conf_test.cc \
	tests/unit/operator/node_fit_test.cc \
	tests/unit/operator/options_test.cc \
	tests/unit/operator/places_test.cc \
	tests/unit/operator/protect_test.cc \
	tests/unit/operator/release_order_test.cc \
	tests/unit/operator/rests_test.cc \
	tests/unit/operator/scale_test.cc \
	tests/unit/operator/store_test.cc \
	tests/unit/operator/site_files_test.cc \
	tests/unit/operator/trial_test.cc \
	tests/unit/operator/update_test.cc \
	tests/unit/operator/worker_pod_test.cc \
	tests/unit/operator/worker_request_test.cc \
	tests/unit/owner/creation_time_test.cc \
	tests/unit/owner/errands_test.cc \
	tests/unit/owner/explain_page_test.cc \
	tests/unit/owner/explain_test.cc \
	tests/unit/owner/gang_jobs_test.cc \
	tests/unit/owner/gang_turns_test.cc \
	tests/unit/owner/group_looks_test.cc \
	tests/unit/owner/groups_test.cc \
	tests/unit/owner/health_test.cc \
	tests/unit/owner/het_jobs_test.cc \
	tests/unit/owner/lost_nodes_test.cc \
	tests/unit/owner/known_devices_test.cc \
	tests/unit/owner/node_marks_test.cc \
	tests/unit/owner/outside_pods_test.cc \
	tests/unit/owner/owner_bed.h \
	tests/unit/owner/pins_test.cc \
	tests/unit/owner/predicate_memo_test.cc \
	tests/unit/owner/queue_places_test.cc \
	tests/unit/owner/sync_times_test.cc \
	tests/unit/owner/voice_test.cc \
	tests/unit/owner/workers_only_test.cc \
	tests/unit/plugins/job_submit/batch_refusal_test.cc \
	tests/unit/plugins/job_submit/batch_request_test.cc \
	tests/unit/plugins/job_submit/batch_wish_test.cc \
	tests/unit/plugins/job_submit/burst_bed.h \
	tests/unit/plugins/job_submit/burst_fit_test.cc \
	tests/unit/plugins/job_submit/burst_test.cc \
	tests/unit/plugins/job_submit/conf_cache_test.cc \
	tests/unit/plugins/job_submit/group_book_test.cc \
	tests/unit/plugins/job_submit/group_lookup_test.cc \
	tests/unit/plugins/job_submit/hook_files_test.cc \
	tests/unit/plugins/job_submit/login_book_test.cc \
	tests/unit/plugins/job_submit/node_view_test.cc \
	tests/unit/plugins/job_submit/partition_limits_test.cc \
	tests/unit/plugins/job_submit/refresh_test.cc \
	tests/unit/plugins/job_submit/submit_budget_test.cc \
	tests/unit/plugins/job_submit/submit_policy_test.cc \
	tests/unit/plugins/node_features/feature_report_test.cc \
	tests/unit/plugins/prep/agent_link_bed.h \
	tests/unit/plugins/prep/agent_link_gate_test.cc \
	tests/unit/plugins/prep/agent_link_test.cc \
	tests/unit/plugins/prep/compat_test.cc \
	tests/unit/plugins/prep/control_watch_test.cc \
	tests/unit/plugins/prep/drain_retries_test.cc \
	tests/unit/plugins/prep/gate_bed.h \
	tests/unit/plugins/prep/gate_file_test.cc \
	tests/unit/plugins/prep/gate_memory_test.cc \
	tests/unit/plugins/prep/gate_protection_test.cc \
	tests/unit/plugins/prep/gate_test.cc \
	tests/unit/plugins/shared/job_facts_test.cc \
	tests/unit/plugins/shared/packed_job_test.cc \
	tests/unit/session/job_session_test.cc \
	tests/unit/session/places_test.cc \
	tests/unit/session/session_server_test.cc \
	tests/unit/workers/decide_test.cc \
	tests/unit/workers/conf_keeper_test.cc \
	tests/unit/workers/demand_test.cc \
	tests/unit/workers/keeper_bed.h \
	tests/unit/workers/keeper_records_test.cc \
	tests/unit/workers/keeper_test.cc \
	tests/unit/workers/potential_test.cc \
	tests/unit/workers/set_keeper_test.cc \
	tests/unit/workers/worker_pod_test.cc \
	tests/fuzz/devices_target.cc \
	tests/fuzz/objects_target.cc \
	tests/fuzz/targets.h \
	tests/fuzz/values_target.cc \
	tests/fuzz/wire_target.cc
if FAULT_POINTS
tests_unit_unit_tests_SOURCES += tests/unit/calls/fault_points_test.cc
endif
tests_cppflags = -DDOCTEST_CONFIG_TREAT_CHAR_STAR_AS_STRING
tests_unit_unit_tests_CPPFLAGS = $(plain_cppflags) $(tests_pch_include) \
	$(tests_cppflags) \
	-DFUZZ_CORPUS_DIR=\"$(abs_srcdir)/tests/fuzz/corpus\" \
	-DTEST_DATA_DIR=\"$(abs_srcdir)/tests/data\"
tests_unit_unit_tests_CXXFLAGS = $(SANITIZED_CXXFLAGS)
tests_unit_unit_tests_LDFLAGS = $(SANITIZE)
tests_unit_unit_tests_LDADD = plugins/libplugin_pure.la cli/libcheck.la \
	cli/srun/libsrun.la operator/liboperator.la $(agent_libraries) \
	$(agent_system_libraries)

# Most of all that is compiled: in a third of the time without what nobody needs
# of a case. make CXXFLAGS=… has it otherwise.
tests_cxxflags = -O0 -g0
$(tests_unit_unit_tests_OBJECTS): CXXFLAGS += $(tests_cxxflags)
$(tests_unit_unit_tests_OBJECTS): $(tests_pch)

EXTRA_DIST += \
	tests/batch \
	tests/bench \
	tests/cel \
	tests/chaos \
	tests/data \
	tests/integration \
	tests/invariants \
	tests/layers \
	tests/lib \
	tests/long \
	tests/run \
	tests/style \
	tests/unit/precompiled.h

# The fuzz targets. Their corpus is run by the unit tests; tests/fuzz/run makes
# this program with clang++, and lets libFuzzer go on from there.
EXTRA_PROGRAMS = tests/fuzz/fuzz
tests_fuzz_fuzz_SOURCES = \
	$(common_base_sources) \
	$(common_contract_sources) \
	common/kube/base64.cc common/kube/base64.h \
	common/kube/line_framer.cc common/kube/line_framer.h \
	common/kube/text.cc common/kube/text.h \
	common/kube/token_claims.cc common/kube/token_claims.h \
	common/kube/websocket.cc common/kube/websocket.h \
	$(common_metrics_sources) \
	common/slurm/gres_counts.cc common/slurm/gres_counts.h \
	common/slurm/het_job.cc common/slurm/het_job.h \
	common/slurm/job.cc common/slurm/job.h \
	common/slurm/job_gres.cc common/slurm/job_gres.h \
	common/slurm/node_use.cc common/slurm/node_use.h \
	common/slurm/reasons.cc common/slurm/reasons.h \
	$(agent_pure_sources) \
	agent/workers/worker_pod.cc agent/workers/worker_pod.h \
	agent/batch/array.cc agent/batch/array.h \
	agent/batch/output_name.cc agent/batch/output_name.h \
	cli/setup/conf_edit.cc \
	cli/setup/manifests.cc \
	cli/setup/slurm_lines.cc \
	cli/srun/hosts_file.cc \
	cli/srun/io_name.cc \
	cli/srun/launch.cc \
	cli/srun/step_frame.cc \
	$(cli_top_pure_sources) \
	plugins/shared/job_facts.cc \
	plugins/prep/gate_file.cc \
	tests/fuzz/devices_target.cc \
	tests/fuzz/fuzz.cc \
	tests/fuzz/objects_target.cc \
	tests/fuzz/targets.h \
	tests/fuzz/values_target.cc \
	tests/fuzz/wire_target.cc
tests_fuzz_fuzz_CPPFLAGS = $(plain_cppflags)
tests_fuzz_fuzz_CXXFLAGS = $(AM_CXXFLAGS) \
	-fsanitize=fuzzer-no-link,address,undefined
tests_fuzz_fuzz_LDADD = $(OPENSSL_LIBS) $(RE2_LIBS)
tests_fuzz_fuzz_LDFLAGS = -fsanitize=fuzzer,address,undefined

EXTRA_DIST += \
	tests/fuzz/corpus \
	tests/fuzz/run

# The style: .clang-format, .clang-tidy and doc/layers say it, tests/style and
# tests/layers hold the sources to it. make tidy FILES="…" looks at these only.
.PHONY: format lint tidy
format:
	$(srcdir)/tests/style format
lint:
	$(srcdir)/tests/layers
	$(srcdir)/tests/style check-format
tidy:
	STYLE_FLAGS='-I$(abs_top_builddir) $(CURL_CFLAGS) $(OPENSSL_CFLAGS) $(HTTPLIB_CFLAGS)' \
		$(srcdir)/tests/style tidy $(FILES)
