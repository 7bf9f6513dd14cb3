# One program has all unit tests; tests/run starts the others. They are no part
# of "make check", since they need a sandbox.
if HAVE_DOCTEST
check_PROGRAMS += tests/unit/unit_tests
TESTS += tests/unit/unit_tests
endif
tests_unit_unit_tests_SOURCES = \
	tests/unit/access_test.cc \
	tests/unit/act_batch_test.cc \
	tests/unit/act_claims_test.cc \
	tests/unit/act_extended_test.cc \
	tests/unit/adoption_tier_test.cc \
	tests/unit/check_host_test.cc \
	tests/unit/check_kube_test.cc \
	tests/unit/check_slurm_test.cc \
	tests/unit/check_names_test.cc \
	tests/unit/agent_link_test.cc \
	tests/unit/backoff_test.cc \
	tests/unit/batch_array_test.cc \
	tests/unit/batch_claim_world.h \
	tests/unit/batch_flows.h \
	tests/unit/batch_gang_test.cc \
	tests/unit/batch_gres_test.cc \
	tests/unit/batch_launcher_test.cc \
	tests/unit/batch_anew_world.h \
	tests/unit/batch_nodes_world.h \
	tests/unit/batch_pod_test.cc \
	tests/unit/batch_desc.h \
	tests/unit/batch_refusal_test.cc \
	tests/unit/batch_request_test.cc \
	tests/unit/batch_het_test.cc \
	tests/unit/batch_script_test.cc \
	tests/unit/batch_pod_start_test.cc \
	tests/unit/batch_srun_test.cc \
	tests/unit/batch_srun_world.h \
	tests/unit/batch_template_test.cc \
	tests/unit/batch_wish_test.cc \
	tests/unit/batch_world.h \
	tests/unit/bridge_batch_anew_test.cc \
	tests/unit/bridge_batch_array_nodes_test.cc \
	tests/unit/bridge_batch_array_test.cc \
	tests/unit/bridge_batch_claims_test.cc \
	tests/unit/bridge_batch_crash_test.cc \
	tests/unit/bridge_batch_moved_test.cc \
	tests/unit/bridge_batch_nodes_test.cc \
	tests/unit/bridge_batch_one_srun_test.cc \
	tests/unit/bridge_batch_srun_faults_test.cc \
	tests/unit/bridge_batch_srun_hosts_test.cc \
	tests/unit/bridge_batch_srun_test.cc \
	tests/unit/bridge_batch_test.cc \
	tests/unit/bridge_batch_tidy_test.cc \
	tests/unit/decide_batch_test.cc \
	tests/unit/bridge_claims_test.cc \
	tests/unit/bridge_devices_test.cc \
	tests/unit/bridge_extended_test.cc \
	tests/unit/bridge_gang_claims_test.cc \
	tests/unit/bridge_gang_extended_test.cc \
	tests/unit/bridge_gang_test.cc \
	tests/unit/bridge_gate_test.cc \
	tests/unit/bridge_groups_test.cc \
	tests/unit/bridge_het_test.cc \
	tests/unit/bridge_batch_het_test.cc \
	tests/unit/bridge_batch_refused_test.cc \
	tests/unit/bridge_hooks_test.cc \
	tests/unit/bridge_kube_faults_test.cc \
	tests/unit/bridge_adopt_claims_test.cc \
	tests/unit/bridge_adopt_test.cc \
	tests/unit/bridge_adoption_test.cc \
	tests/unit/bridge_life_test.cc \
	tests/unit/bridge_nodes_test.cc \
	tests/unit/bridge_placement_test.cc \
	tests/unit/bridge_plugins_test.cc \
	tests/unit/bridge_renew_test.cc \
	tests/unit/bridge_requests_test.cc \
	tests/unit/bridge_restart_test.cc \
	tests/unit/bridge_shares_test.cc \
	tests/unit/bridge_slurm_faults_test.cc \
	tests/unit/bridge_volumes_test.cc \
	tests/unit/cel_test.cc \
	tests/unit/call_faults.cc tests/unit/call_faults.h \
	tests/unit/capacity_gres_test.cc \
	tests/unit/claim_allocation_test.cc \
	tests/unit/claim_check_test.cc \
	tests/unit/claim_constraints_test.cc \
	tests/unit/claim_cpus_test.cc \
	tests/unit/claim_sharing_test.cc \
	tests/unit/claim_gang_world.h \
	tests/unit/claim_plan_test.cc \
	tests/unit/claim_store_test.cc \
	tests/unit/claim_world.h \
	tests/unit/claims.h \
	tests/unit/conf_cache_test.cc \
	tests/unit/conf_test.cc \
	tests/unit/constraints_test.cc \
	tests/unit/consumed_capacity_test.cc \
	tests/unit/controllers_test.cc \
	tests/unit/bridge_cpus_test.cc \
	tests/unit/cpu_choice_test.cc \
	tests/unit/cpu_devices_test.cc \
	tests/unit/cpus.h \
	tests/unit/decoded.h \
	tests/unit/decide_claims_test.cc \
	tests/unit/decide_gang_test.cc \
	tests/unit/decide_test.cc \
	tests/unit/device_amounts_test.cc \
	tests/unit/device_catalog_test.cc \
	tests/unit/device_gres_test.cc \
	tests/unit/device_index_test.cc \
	tests/unit/device_inventory_test.cc \
	tests/unit/hybrid_devices_test.cc \
	tests/unit/node_devices_test.cc \
	tests/unit/node_gres_test.cc \
	tests/unit/device_needs_test.cc \
	tests/unit/device_slices_test.cc \
	tests/unit/drain_retries_test.cc \
	tests/unit/explain_page_test.cc \
	tests/unit/explain_test.cc \
	tests/unit/extended_claim_test.cc \
	tests/unit/extended_resources_test.cc \
	tests/unit/fake_kube.cc tests/unit/fake_kube.h \
	tests/unit/fake_kube_claims.cc \
	tests/unit/fake_kube_objects.cc \
	tests/unit/fake_kube_pods.cc \
	tests/unit/fake_lease.h \
	tests/unit/fake_slurm.cc tests/unit/fake_slurm.h \
	tests/unit/fake_slurm_hooks.cc \
	tests/unit/fake_slurm_loads.cc \
	tests/unit/fake_slurm_nodes.cc \
	tests/unit/fake_slurm_scheduler.cc \
	tests/unit/fake_slurm_users.cc \
	tests/unit/fit_counts_test.cc \
	tests/unit/foreign_pods_test.cc \
	tests/fuzz/devices_target.cc \
	tests/fuzz/objects_target.cc \
	tests/fuzz/targets.h \
	tests/fuzz/values_target.cc \
	tests/fuzz/wire_target.cc \
	tests/unit/feature_labels_test.cc \
	tests/unit/feature_report_test.cc \
	tests/unit/frames.h \
	tests/unit/fuzz_corpus_test.cc \
	tests/unit/group_reports_test.cc \
	tests/unit/group_spec_test.cc \
	tests/unit/group_watch_test.cc \
	tests/unit/het_job_test.cc \
	tests/unit/hybrid_size_test.cc \
	tests/unit/gang_key_test.cc \
	tests/unit/gang_place_test.cc \
	tests/unit/gang_shapes_test.cc \
	tests/unit/gang_store_test.cc \
	tests/unit/gang_test.cc \
	tests/unit/gang_world.h \
	tests/unit/gres_counts_test.cc \
	tests/unit/gres_memo_test.cc \
	tests/unit/gate_file_test.cc \
	tests/unit/gate_test.cc \
	tests/unit/health_test.cc \
	tests/unit/hook_message_test.cc \
	tests/unit/hook_server_test.cc \
	tests/unit/http_test.cc \
	tests/unit/identity_test.cc \
	tests/unit/user_database_test.cc \
	tests/unit/job_gres_test.cc \
	tests/unit/job_ref_test.cc \
	tests/unit/job_requests_test.cc \
	tests/unit/job_session_test.cc \
	tests/unit/job_test.cc \
	tests/unit/job_values_test.cc \
	tests/unit/json_test.cc \
	tests/unit/json_text_test.cc \
	tests/unit/kube_api_test.cc \
	tests/unit/kube_bodies_test.cc \
	tests/unit/kube_contract.cc tests/unit/kube_contract.h \
	tests/unit/kube_contract_test.cc \
	tests/unit/kube_status_test.cc \
	tests/unit/kube_text_test.cc \
	tests/unit/lease_keeper_test.cc \
	tests/unit/lease_test.cc \
	tests/unit/line_framer_test.cc \
	tests/unit/login_dir_test.cc \
	tests/unit/log_test.cc \
	tests/unit/mailbox_test.cc \
	tests/unit/main.cc \
	tests/unit/make.h \
	tests/unit/make_devices.h \
	tests/unit/make_nodes.h \
	tests/unit/make_volumes.h \
	tests/unit/name_pattern_test.cc \
	tests/unit/node_features_test.cc \
	tests/unit/node_gate_test.cc \
	tests/unit/node_marks_test.cc \
	tests/unit/node_plan_test.cc \
	tests/unit/node_removal_test.cc \
	tests/unit/node_resize_test.cc \
	tests/unit/node_state_test.cc \
	tests/unit/node_sync_test.cc \
	tests/unit/node_view_test.cc \
	tests/unit/objects_test.cc \
	tests/unit/output_name_test.cc \
	tests/unit/packet_socket_test.cc \
	tests/unit/owners_test.cc \
	tests/unit/pending_quota_test.cc \
	tests/unit/permit_test.cc \
	tests/unit/placement_table_test.cc \
	tests/unit/places_test.cc \
	tests/unit/pod_cpus_test.cc \
	tests/unit/pod_objections_test.cc \
	tests/unit/pod_group_status_test.cc \
	tests/unit/pod_placement_test.cc \
	tests/unit/pod_requests_test.cc \
	tests/unit/plugin_resources_test.cc \
	tests/unit/predicate_test.cc \
	tests/unit/printable_test.cc \
	tests/unit/priority_class_test.cc \
	tests/unit/quantity_test.cc \
	tests/unit/reflector_test.cc \
	tests/unit/regex_test.cc \
	tests/unit/resource_claim_test.cc \
	tests/unit/salloc_script_test.cc \
	tests/unit/script_world.h \
	tests/unit/semver_test.cc \
	tests/unit/session_conf_test.cc \
	tests/unit/session_frame_test.cc \
	tests/unit/session_server_test.cc \
	tests/unit/shadow_plan_test.cc \
	tests/unit/slurm_contract.cc tests/unit/slurm_contract.h \
	tests/unit/slurm_contract_test.cc \
	tests/unit/slurm_reasons_test.cc \
	tests/unit/slurm_record_test.cc \
	tests/unit/srun_het_group_test.cc \
	tests/unit/srun_hosts_test.cc \
	tests/unit/srun_maps_test.cc \
	tests/unit/srun_options_test.cc \
	tests/unit/srun_plan_test.cc \
	tests/unit/srun_tasks_test.cc \
	tests/unit/srun_wire_test.cc \
	tests/unit/submit_budget_test.cc \
	tests/unit/submit_policy_test.cc \
	tests/unit/sweep_mark_test.cc \
	tests/unit/temporary_directory.h \
	tests/unit/test_data.h \
	tests/unit/tls_certificate.cc tests/unit/tls_certificate.h \
	tests/unit/tls_server.cc tests/unit/tls_server.h \
	tests/unit/token_file_test.cc \
	tests/unit/translate_test.cc \
	tests/unit/tres_memory_test.cc \
	tests/unit/units_test.cc \
	tests/unit/uuid_test.cc \
	tests/unit/volumes_test.cc \
	tests/unit/websocket_test.cc \
	tests/unit/words_test.cc \
	tests/unit/workers_test.cc \
	tests/unit/world.cc tests/unit/world.h \
	tests/unit/write_gate_test.cc
if FAULT_POINTS
tests_unit_unit_tests_SOURCES += tests/unit/fault_points_test.cc
endif
tests_unit_unit_tests_CPPFLAGS = $(agent_libagent_la_CPPFLAGS) \
	-DDOCTEST_CONFIG_TREAT_CHAR_STAR_AS_STRING \
	-DFUZZ_CORPUS_DIR=\"$(abs_srcdir)/tests/fuzz/corpus\" \
	-DTEST_DATA_DIR=\"$(abs_srcdir)/tests/data\"
tests_unit_unit_tests_CXXFLAGS = $(SANITIZED_CXXFLAGS)
tests_unit_unit_tests_LDFLAGS = $(SANITIZE)
tests_unit_unit_tests_LDADD = plugins/libplugin_pure.la cli/libcheck.la \
	cli/srun/libsrun.la agent/libagent.la \
	$(CURL_LIBS) $(OPENSSL_LIBS) $(HTTPLIB_LIBS) $(SLURM_LIBS)

# Most of all that is compiled: in a third of the time without what nobody needs
# of a case. make CXXFLAGS=… has it otherwise.
$(tests_unit_unit_tests_OBJECTS): CXXFLAGS += -O0 -g0

EXTRA_DIST += \
	tests/batch \
	tests/bench \
	tests/chaos \
	tests/data \
	tests/integration \
	tests/invariants \
	tests/lib \
	tests/long \
	tests/run

# The fuzz targets. Their corpus is run by the unit tests; tests/fuzz/run makes
# this program with clang++, and lets libFuzzer go on from there.
EXTRA_PROGRAMS = tests/fuzz/fuzz
tests_fuzz_fuzz_SOURCES = \
	$(common_libcommon_la_SOURCES) \
	$(agent_pure_sources) \
	cli/srun/hosts_file.cc \
	cli/srun/io_name.cc \
	cli/srun/launch.cc \
	cli/srun/step_frame.cc \
	cli/token_expiry.cc \
	plugins/job_facts.cc \
	plugins/prep/gate_file.cc \
	tests/fuzz/devices_target.cc \
	tests/fuzz/fuzz.cc \
	tests/fuzz/objects_target.cc \
	tests/fuzz/targets.h \
	tests/fuzz/values_target.cc \
	tests/fuzz/wire_target.cc
tests_fuzz_fuzz_CXXFLAGS = $(AM_CXXFLAGS) \
	-fsanitize=fuzzer-no-link,address,undefined
tests_fuzz_fuzz_LDADD = $(OPENSSL_LIBS)
tests_fuzz_fuzz_LDFLAGS = -fsanitize=fuzzer,address,undefined

EXTRA_DIST += \
	tests/fuzz/corpus \
	tests/fuzz/run
