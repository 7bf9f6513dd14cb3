systemdsystemunit_DATA = contribs/systemd/slurmk8sd.service \
	contribs/systemd/slurmk8s-sink.service
CLEANFILES += contribs/systemd/slurmk8sd.service

contribs/systemd/slurmk8sd.service: contribs/systemd/slurmk8sd.service.in Makefile
	@$(MKDIR_P) contribs/systemd
	$(AM_V_GEN)sed 's|@sbindir[@]|$(sbindir)|' \
		$(srcdir)/contribs/systemd/slurmk8sd.service.in > $@

EXTRA_DIST += \
	contribs/helm \
	contribs/k8s.conf.example \
	contribs/kubernetes \
	contribs/sandbox \
	contribs/systemd/slurmd-node-labels.conf \
	contribs/systemd/slurmk8s-sink.service \
	contribs/systemd/slurmk8sd.service.in
