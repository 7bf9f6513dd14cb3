# SPDX-License-Identifier: GPL-2.0-or-later
systemdsystemunit_DATA = contribs/systemd/slurmk8sd.service \
	contribs/systemd/slurmk8s-sink.service
CLEANFILES += contribs/systemd/slurmk8sd.service

contribs/systemd/slurmk8sd.service: contribs/systemd/slurmk8sd.service.in Makefile
	@$(MKDIR_P) contribs/systemd
	$(AM_V_GEN)sed 's|@sbindir[@]|$(sbindir)|' \
		$(srcdir)/contribs/systemd/slurmk8sd.service.in > $@

# Shells load a completion by the name of the command. "kubectl-slurm" is the
# other name of slurmk8s. Debian's zsh looks elsewhere: contribs/debian/rules.
bashcompletiondir = $(datadir)/bash-completion/completions
zshcompletiondir = $(datadir)/zsh/site-functions
dist_zshcompletion_DATA = contribs/completion/_slurmk8s

# What is applied or copied, not run: the manifests keep their folders, in which
# kubectl looks for them, and the guides find all of it by their links. By hand,
# since automake would keep "contribs/" in the names.
sharedexamples = contribs/k8s.conf.example \
	contribs/systemd/slurmd-node-labels.conf

install-data-hook:
	$(MKDIR_P) $(DESTDIR)$(bashcompletiondir)
	$(INSTALL_DATA) $(srcdir)/contribs/completion/slurmk8s.bash \
		$(DESTDIR)$(bashcompletiondir)/slurmk8s
	cd $(DESTDIR)$(bashcompletiondir) && $(LN_S) -f slurmk8s kubectl-slurm
	rm -rf $(DESTDIR)$(pkgdatadir)/kubernetes $(DESTDIR)$(pkgdatadir)/helm \
		$(DESTDIR)$(pkgdatadir)/operator $(DESTDIR)$(pkgdatadir)/monitoring
	find $(srcdir)/contribs/kubernetes $(srcdir)/contribs/operator \
		$(srcdir)/contribs/helm/*/ $(srcdir)/contribs/monitoring/dashboards \
		$(srcdir)/contribs/monitoring/*.* -type f | while read -r file; do \
		to="$(DESTDIR)$(pkgdatadir)/$${file#$(srcdir)/contribs/}"; \
		$(MKDIR_P) "$${to%/*}" && $(INSTALL_DATA) "$$file" "$$to" || exit; \
	done
	for file in $(sharedexamples); do \
		$(INSTALL_DATA) $(srcdir)/$$file $(DESTDIR)$(pkgdatadir) || exit; \
	done
	rm -f $(DESTDIR)$(docdir)/contribs
	ln -s -r $(DESTDIR)$(pkgdatadir) $(DESTDIR)$(docdir)/contribs

uninstall-local:
	rm -f $(DESTDIR)$(bashcompletiondir)/slurmk8s \
		$(DESTDIR)$(bashcompletiondir)/kubectl-slurm \
		$(DESTDIR)$(docdir)/contribs
	rm -rf $(DESTDIR)$(pkgdatadir)

EXTRA_DIST += \
	contribs/completion/slurmk8s.bash \
	contribs/debian \
	contribs/helm \
	contribs/images \
	contribs/k8s.conf.example \
	contribs/kubernetes \
	contribs/monitoring \
	contribs/operator \
	contribs/sandbox \
	contribs/systemd/slurmd-node-labels.conf \
	contribs/systemd/slurmk8s-sink.service \
	contribs/systemd/slurmk8sd.service.in
