# One program has all unit tests; tests/run starts the others. They are no part
# of "make check", since they need a sandbox.
if HAVE_DOCTEST
check_PROGRAMS += tests/unit/unit_tests
TESTS += tests/unit/unit_tests
endif
tests_unit_unit_tests_SOURCES = \
	tests/unit/access_test.cc \
	tests/unit/act_claims_test.cc \
	tests/unit/act_extended_test.cc \
	tests/unit/check_host_test.cc \
	tests/unit/check_kube_test.cc \
	tests/unit/check_slurm_test.cc \
	tests/unit/check_names_test.cc \
	tests/unit/agent_link_test.cc \
	tests/unit/backoff_test.cc \
	tests/unit/batch_launcher_test.cc \
	tests/unit/batch_pod_test.cc \
	tests/unit/batch_request_test.cc \
	tests/unit/batch_script_test.cc \
	tests/unit/batch_template_test.cc \
	tests/unit/bridge_batch_test.cc \
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
	tests/unit/bridge_hooks_test.cc \
	tests/unit/bridge_kube_faults_test.cc \
	tests/unit/bridge_adopt_test.cc \
	tests/unit/bridge_life_test.cc \
	tests/unit/bridge_nodes_test.cc \
	tests/unit/bridge_placement_test.cc \
	tests/unit/bridge_renew_test.cc \
	tests/unit/bridge_requests_test.cc \
	tests/unit/bridge_restart_test.cc \
	tests/unit/bridge_slurm_faults_test.cc \
	tests/unit/bridge_volumes_test.cc \
	tests/unit/cel_test.cc \
	tests/unit/claim_allocation_test.cc \
	tests/unit/claim_check_test.cc \
	tests/unit/claim_plan_test.cc \
	tests/unit/claim_store_test.cc \
	tests/unit/claim_world.h \
	tests/unit/claims.h \
	tests/unit/conf_cache_test.cc \
	tests/unit/conf_test.cc \
	tests/unit/constraints_test.cc \
	tests/unit/controllers_test.cc \
	tests/unit/decide_claims_test.cc \
	tests/unit/decide_gang_test.cc \
	tests/unit/decide_test.cc \
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
	tests/unit/fake_lease.h \
	tests/unit/fake_slurm.h \
	tests/unit/foreign_pods_test.cc \
	tests/fuzz/devices_target.cc \
	tests/fuzz/objects_target.cc \
	tests/fuzz/targets.h \
	tests/fuzz/values_target.cc \
	tests/fuzz/wire_target.cc \
	tests/unit/feature_labels_test.cc \
	tests/unit/feature_report_test.cc \
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
	tests/unit/gres_counts_test.cc \
	tests/unit/gate_file_test.cc \
	tests/unit/gate_test.cc \
	tests/unit/health_test.cc \
	tests/unit/hook_message_test.cc \
	tests/unit/hook_server_test.cc \
	tests/unit/http_test.cc \
	tests/unit/identity_test.cc \
	tests/unit/job_gres_test.cc \
	tests/unit/job_ref_test.cc \
	tests/unit/job_requests_test.cc \
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
	tests/unit/log_test.cc \
	tests/unit/mailbox_test.cc \
	tests/unit/main.cc \
	tests/unit/make.h \
	tests/unit/make_nodes.h \
	tests/unit/node_features_test.cc \
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
	tests/unit/pod_objections_test.cc \
	tests/unit/pod_group_status_test.cc \
	tests/unit/pod_placement_test.cc \
	tests/unit/pod_requests_test.cc \
	tests/unit/predicate_test.cc \
	tests/unit/printable_test.cc \
	tests/unit/priority_class_test.cc \
	tests/unit/quantity_test.cc \
	tests/unit/reflector_test.cc \
	tests/unit/regex_test.cc \
	tests/unit/resource_claim_test.cc \
	tests/unit/semver_test.cc \
	tests/unit/shadow_plan_test.cc \
	tests/unit/slurm_contract.cc tests/unit/slurm_contract.h \
	tests/unit/slurm_contract_test.cc \
	tests/unit/slurm_reasons_test.cc \
	tests/unit/submit_budget_test.cc \
	tests/unit/submit_policy_test.cc \
	tests/unit/temporary_directory.h \
	tests/unit/test_data.h \
	tests/unit/tls_certificate.cc tests/unit/tls_certificate.h \
	tests/unit/tls_server.cc tests/unit/tls_server.h \
	tests/unit/token_file_test.cc \
	tests/unit/translate_test.cc \
	tests/unit/tres_memory_test.cc \
	tests/unit/units_test.cc \
	tests/unit/volumes_test.cc \
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
	agent/libagent.la \
	$(CURL_LIBS) $(OPENSSL_LIBS) $(HTTPLIB_LIBS) $(SLURM_LIBS)

EXTRA_DIST += \
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
	agent/cel.cc \
	agent/cel_calls.cc \
	agent/cel_eval.cc \
	agent/cel_lexer.cc \
	agent/cel_members.cc \
	agent/cel_operands.cc \
	agent/cel_operators.cc \
	agent/cel_parser.cc \
	agent/cel_value.cc \
	agent/claim_allocation.cc \
	agent/claim_check.cc \
	agent/constraints.cc \
	agent/device_fit.cc \
	agent/device_index.cc \
	agent/device_inventory.cc \
	agent/device_slices.cc \
	agent/extended_claim.cc \
	agent/extended_resources.cc \
	agent/foreign_pods.cc \
	agent/gang.cc \
	agent/gang_facts.cc \
	agent/gang_key.cc \
	agent/gang_place.cc \
	agent/gang_shapes.cc \
	agent/gres_counts.cc \
	agent/group_spec.cc \
	agent/het_job.cc \
	agent/job.cc \
	agent/job_gres.cc \
	agent/job_requests.cc \
	agent/job_times.cc \
	agent/job_values.cc \
	agent/kube_text.cc \
	agent/line_framer.cc \
	agent/hybrid_devices.cc \
	agent/hybrid_size.cc \
	agent/node_address.cc \
	agent/node_batches.cc \
	agent/node_creation.cc \
	agent/node_carry.cc \
	agent/node_claims.cc \
	agent/node_devices.cc \
	agent/node_features.cc \
	agent/node_gres.cc \
	agent/node_marks.cc \
	agent/node_plan.cc \
	agent/node_removal.cc \
	agent/node_sync.cc \
	agent/node_use.cc \
	agent/shadow_plan.cc \
	agent/node_words.cc \
	agent/objects.cc \
	agent/output_name.cc \
	agent/pod_claims.cc \
	agent/pod_group_status.cc \
	agent/pod_objections.cc \
	agent/pod_placement.cc \
	agent/pod_requests.cc \
	agent/predicate.cc \
	agent/regex.cc \
	agent/regex_class.cc \
	agent/regex_parser.cc \
	agent/regex_scan.cc \
	agent/resource_claim.cc \
	agent/resource_slice.cc \
	agent/semver.cc \
	agent/slurm_reasons.cc \
	agent/translate.cc \
	agent/volumes.cc \
	agent/wish_table.cc \
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
