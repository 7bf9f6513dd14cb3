# SPDX-License-Identifier: GPL-2.0-or-later
dist_man_MANS += \
	doc/man/man1/slurmk8s.1 \
	doc/man/man5/k8s.conf.5 \
	doc/man/man8/slurmk8s-operator.8 \
	doc/man/man8/slurmk8sd.8

# The guides keep their folders, so that their links hold where they are installed.
usersdocdir = $(docdir)/doc/users
dist_usersdoc_DATA = \
	doc/users/devices.md \
	doc/users/gangs.md \
	doc/users/interactive.md \
	doc/users/pods.md \
	doc/users/sbatch.md \
	doc/users/sbatch-multinode.md \
	doc/users/srun.md

admindocdir = $(docdir)/doc/admin
dist_admindoc_DATA = \
	doc/admin/alerts.md \
	doc/admin/autoscaling.md \
	doc/admin/burst.md \
	doc/admin/cluster.md \
	doc/admin/configure.md \
	doc/admin/helm.md \
	doc/admin/install.md \
	doc/admin/metrics.md \
	doc/admin/migrate-from-slurm-bridge.md \
	doc/admin/migrate-from-slurm-operator.md \
	doc/admin/operate.md \
	doc/admin/packages.md \
	doc/admin/sbatch.md \
	doc/admin/secure.md \
	doc/admin/troubleshoot.md \
	doc/admin/upgrade.md \
	doc/admin/workers.md

dist_doc_DATA = README.md NEWS.md SECURITY.md

EXTRA_DIST += \
	CONTRIBUTING.md \
	doc/developers/architecture.md \
	doc/developers/decisions.md \
	doc/developers/development.md \
	doc/layers
