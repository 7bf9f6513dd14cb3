dist_man_MANS += \
	doc/man/man1/slurmk8s.1 \
	doc/man/man5/k8s.conf.5 \
	doc/man/man8/slurmk8sd.8

dist_doc_DATA = \
	doc/administration.md \
	doc/architecture.md \
	doc/development.md \
	doc/devices.md \
	doc/gangs.md \
	doc/requests.md \
	doc/sbatch.md \
	doc/srun.md

EXTRA_DIST += doc/layers
