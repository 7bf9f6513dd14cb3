# What neither asks nor tells anybody: what is read of others, and what follows
# from it. The fuzz program is made of it, too.
agent_pure_sources = \
	agent/base64.cc agent/base64.h \
	agent/batch_array.cc agent/batch_array.h \
	agent/batch_gang.cc agent/batch_gang.h \
	agent/batch_job.cc agent/batch_job.h \
	agent/batch_place.cc agent/batch_place.h \
	agent/batch_pod_start.cc agent/batch_pod_start.h \
	agent/cel.cc agent/cel.h \
	agent/cel_calls.cc \
	agent/cel_eval.cc \
	agent/cel_lexer.cc agent/cel_lexer.h \
	agent/cel_members.cc agent/cel_members.h \
	agent/cel_operands.cc \
	agent/cel_operators.cc \
	agent/cel_parser.cc agent/cel_parser.h \
	agent/cel_value.cc agent/cel_value.h \
	agent/claim_allocation.cc agent/claim_allocation.h \
	agent/claim_check.cc agent/claim_check.h \
	agent/claim_constraints.cc agent/claim_constraints.h \
	agent/consumed_capacity.cc agent/consumed_capacity.h \
	agent/cpu_devices.cc agent/cpu_devices.h \
	agent/device_amounts.cc agent/device_amounts.h \
	agent/device_fit.cc \
	agent/device_index.cc agent/device_index.h \
	agent/device_inventory.cc agent/device_inventory.h \
	agent/device_slices.cc agent/device_slices.h \
	agent/extended_claim.cc agent/extended_claim.h \
	agent/extended_resources.cc agent/extended_resources.h \
	agent/foreign_pods.cc agent/foreign_pods.h \
	agent/gang.cc agent/gang.h \
	agent/gang_facts.cc agent/gang_facts.h \
	agent/gang_key.cc agent/gang_key.h \
	agent/gang_place.cc agent/gang_place.h \
	agent/gang_shapes.cc agent/gang_shapes.h \
	agent/gres_counts.cc agent/gres_counts.h \
	agent/group_spec.cc agent/group_spec.h \
	agent/het_job.cc agent/het_job.h \
	agent/hybrid_devices.cc \
	agent/hybrid_size.cc agent/hybrid_size.h \
	agent/job.cc agent/job.h \
	agent/job_gres.cc agent/job_gres.h \
	agent/job_requests.cc agent/job_requests.h \
	agent/job_times.cc \
	agent/job_values.cc agent/job_values.h \
	agent/kube_text.cc agent/kube_text.h \
	agent/line_framer.cc agent/line_framer.h \
	agent/node_address.cc agent/node_address.h \
	agent/node_batches.cc agent/node_batches.h \
	agent/node_carry.cc agent/node_carry.h \
	agent/node_claims.cc agent/node_claims.h \
	agent/node_creation.cc agent/node_creation.h \
	agent/node_devices.cc agent/node_devices.h \
	agent/node_features.cc agent/node_features.h \
	agent/node_gres.cc agent/node_gres.h \
	agent/node_marks.cc agent/node_marks.h \
	agent/node_plan.cc agent/node_plan.h \
	agent/node_removal.cc agent/node_removal.h \
	agent/node_sync.cc agent/node_sync.h \
	agent/node_use.cc agent/node_use.h \
	agent/node_words.cc agent/node_words.h \
	agent/objects.cc agent/objects.h \
	agent/output_name.cc agent/output_name.h \
	agent/owner_reference.cc agent/owner_reference.h \
	agent/plugin_resources.cc agent/plugin_resources.h \
	agent/pod_claims.cc agent/pod_claims.h \
	agent/pod_cpus.cc agent/pod_cpus.h \
	agent/pod_group_status.cc agent/pod_group_status.h \
	agent/pod_objections.cc agent/pod_objections.h \
	agent/pod_placement.cc agent/pod_placement.h \
	agent/pod_requests.cc agent/pod_requests.h \
	agent/predicate.cc agent/predicate.h \
	agent/predicate_text.cc agent/predicate_text.h \
	agent/regex.cc agent/regex.h \
	agent/regex_class.cc agent/regex_class.h \
	agent/regex_parser.cc agent/regex_parser.h \
	agent/regex_scan.cc agent/regex_scan.h \
	agent/resource_claim.cc agent/resource_claim.h \
	agent/resource_slice.cc agent/resource_slice.h \
	agent/semver.cc agent/semver.h \
	agent/shadow_plan.cc agent/shadow_plan.h \
	agent/slurm_reasons.cc agent/slurm_reasons.h \
	agent/translate.cc agent/translate.h \
	agent/volumes.cc agent/volumes.h \
	agent/websocket.cc agent/websocket.h \
	agent/wish_table.cc agent/wish_table.h

# The agent's objects are a library, so that the unit tests link the same code.
noinst_LTLIBRARIES += agent/libagent.la
agent_libagent_la_SOURCES = \
	$(agent_pure_sources) \
	agent/access.cc agent/access.h \
	agent/access_watch.cc agent/access_watch.h \
	agent/act.cc agent/act.h \
	agent/act_batch.cc agent/act_batch.h \
	agent/act_batch_pods.cc agent/act_batch_pods.h \
	agent/act_batch_srun.cc agent/act_batch_srun.h \
	agent/act_claims.cc agent/act_claims.h \
	agent/act_end.cc agent/act_end.h \
	agent/act_remake.cc agent/act_remake.h \
	agent/act_extended.cc agent/act_extended.h \
	agent/act_gang.cc agent/act_gang.h \
	agent/adoption_tier.cc agent/adoption_tier.h \
	agent/backoff.h \
	agent/batch_gres.cc agent/batch_gres.h \
	agent/batch_het.cc agent/batch_het.h \
	agent/batch_launcher.cc agent/batch_launcher.h \
	agent/batch_limits.cc agent/batch_limits.h \
	agent/batch_pod.cc agent/batch_pod.h \
	agent/batch_pod_parts.cc agent/batch_pod_parts.h \
	agent/batch_secret.cc \
	agent/batch_srun.cc agent/batch_srun.h \
	agent/batch_table.cc agent/batch_table.h \
	agent/batch_variables.cc \
	agent/batch_warning.cc agent/batch_warning.h \
	agent/bridge.cc agent/bridge.h \
	agent/bridge_adoption.cc \
	agent/bridge_batch.cc \
	agent/bridge_batch_ends.cc \
	agent/bridge_batch_hosts.cc \
	agent/bridge_batch_pods.cc \
	agent/bridge_devices.cc \
	agent/bridge_claims.cc \
	agent/bridge_device_plan.cc \
	agent/bridge_gang_claims.cc \
	agent/bridge_dispatch.cc \
	agent/bridge_explain.cc \
	agent/bridge_extended.cc \
	agent/bridge_gang.cc \
	agent/bridge_gate.cc \
	agent/bridge_groups.cc \
	agent/bridge_health.cc \
	agent/bridge_het.cc \
	agent/bridge_hooks.cc \
	agent/bridge_jobs.cc \
	agent/bridge_nodes.cc \
	agent/bridge_outcome.cc \
	agent/bridge_pauses.h \
	agent/bridge_placement.cc \
	agent/bridge_tell.cc \
	agent/bridge_turn.cc \
	agent/cel_budget.h \
	agent/cel_evaluation.h \
	agent/cel_node.h \
	agent/claim_cpus.cc agent/claim_cpus.h \
	agent/claim_sharing.cc agent/claim_sharing.h \
	agent/claim_plan.cc agent/claim_plan.h \
	agent/claim_search.cc agent/claim_search.h \
	agent/claim_shares.cc \
	agent/claim_store.cc agent/claim_store.h \
	agent/controllers.cc agent/controllers.h \
	agent/cpu_choice.cc agent/cpu_choice.h \
	agent/decide.cc agent/decide.h \
	agent/decide_batch.cc agent/decide_batch.h \
	agent/decide_batch_gang.cc agent/decide_batch_gang.h \
	agent/decide_gang.cc agent/decide_gang.h \
	agent/decide_parts.cc agent/decide_parts.h \
	agent/device.h \
	agent/device_catalog.cc agent/device_catalog.h \
	agent/device_needs.cc agent/device_needs.h \
	agent/device_store.cc agent/device_store.h \
	agent/edited_json.h \
	agent/endpoint.cc agent/endpoint.h \
	agent/fault_points.h \
	agent/explain.cc agent/explain.h \
	agent/explain_page.cc agent/explain_page.h \
	agent/fd_wait.cc agent/fd_wait.h \
	agent/fit_counts.cc agent/fit_counts.h \
	agent/gang_devices.h \
	agent/gang_store.cc agent/gang_store.h \
	agent/gang_volumes.cc agent/gang_volumes.h \
	agent/gres_memo.cc agent/gres_memo.h \
	agent/gres_sums.h \
	agent/group_reports.cc agent/group_reports.h \
	agent/group_table.cc agent/group_table.h \
	agent/group_watch.cc agent/group_watch.h \
	agent/guarded_kube.h \
	agent/guarded_slurm.h \
	agent/health.cc agent/health.h \
	agent/hook_server.cc agent/hook_server.h \
	agent/http.cc agent/http.h \
	agent/http_bytes.cc agent/http_bytes.h \
	agent/http_impl.h \
	agent/http_stream.cc \
	agent/http_transfer.cc \
	agent/identity.cc agent/identity.h \
	agent/job_pod.cc agent/job_pod.h \
	agent/job_session.cc agent/job_session.h \
	agent/kube_api.cc agent/kube_api.h \
	agent/kube_bodies.cc agent/kube_bodies.h \
	agent/kube_batch.cc \
	agent/kube_claims.cc \
	agent/kube_socket.cc agent/kube_socket.h \
	agent/kube_status.cc agent/kube_status.h \
	agent/kube_volumes.cc \
	agent/lease.cc agent/lease.h \
	agent/lease_api.cc agent/lease_api.h \
	agent/lease_keeper.cc agent/lease_keeper.h \
	agent/login_check.cc agent/login_check.h \
	agent/mailbox.h \
	agent/message.h \
	agent/node_gate.cc agent/node_gate.h \
	agent/node_patch.h \
	agent/node_step.h \
	agent/notify.cc agent/notify.h \
	agent/owners.cc agent/owners.h \
	agent/peer_stream.cc agent/peer_stream.h \
	agent/partition.h \
	agent/pending_quota.cc agent/pending_quota.h \
	agent/permit.cc agent/permit.h \
	agent/placement_table.cc agent/placement_table.h \
	agent/places.cc agent/places.h \
	agent/plugin_connection.h \
	agent/pod_exec.cc agent/pod_exec.h \
	agent/reflector.cc agent/reflector.h \
	agent/session_server.cc agent/session_server.h \
	agent/session_socket.cc agent/session_socket.h \
	agent/session_tls.cc agent/session_tls.h \
	agent/slurm_batch.cc \
	agent/slurm_accounting.cc \
	agent/slurm_api.h \
	agent/slurm_controllers.cc \
	agent/slurm_cores.cc agent/slurm_cores.h \
	agent/slurm_database.h \
	agent/slurm_error.cc agent/slurm_error.h \
	agent/slurm_het.cc \
	agent/slurm_job_record.cc agent/slurm_job_record.h \
	agent/slurm_jobs.cc \
	agent/slurm_nodes.cc \
	agent/slurm_partition_record.cc agent/slurm_partition_record.h \
	agent/slurm_partitions.cc \
	agent/slurm_request.cc agent/slurm_request.h \
	agent/slurm_states.h \
	agent/slurm_strings.cc agent/slurm_strings.h \
	agent/slurm_submitted.h \
	agent/slurm_uses.cc \
	agent/socket_probe.cc agent/socket_probe.h \
	agent/srun_map.cc agent/srun_map.h \
	agent/srun_maps.cc agent/srun_maps.h \
	agent/sweep_mark.h \
	agent/token_file.cc agent/token_file.h \
	agent/tres_memory.cc agent/tres_memory.h \
	agent/user_database.h agent/user_groups.cc agent/user_groups.h \
	agent/watch_failures.h \
	agent/watches.cc agent/watches.h \
	agent/web.cc agent/web.h \
	agent/web_pages.cc agent/web_pages.h \
	agent/words.cc agent/words.h \
	agent/workers.cc agent/workers.h \
	agent/write_gate.h
if FAULT_POINTS
agent_libagent_la_SOURCES += agent/fault_points.cc
endif
agent_libagent_la_CPPFLAGS = $(AM_CPPFLAGS) $(CURL_CFLAGS) $(OPENSSL_CFLAGS) \
	$(HTTPLIB_CFLAGS)
agent_libagent_la_CXXFLAGS = $(SANITIZED_CXXFLAGS)
agent_libagent_la_LIBADD = common/libcommon_sanitized.la

sbin_PROGRAMS += slurmk8sd
slurmk8sd_SOURCES = agent/main.cc agent/serve.cc agent/serve.h
slurmk8sd_CPPFLAGS = $(agent_libagent_la_CPPFLAGS) \
	-DPKGLIBEXECDIR=\"$(pkglibexecdir)\"
slurmk8sd_CXXFLAGS = $(SANITIZED_CXXFLAGS)
slurmk8sd_LDFLAGS = $(SANITIZE)
slurmk8sd_LDADD = agent/libagent.la $(CURL_LIBS) $(OPENSSL_LIBS) \
	$(HTTPLIB_LIBS) $(SLURM_LIBS)
