# SPDX-License-Identifier: GPL-2.0-or-later
# Precompiled headers. g++ takes a file of the folder HEADER.gch if it was made
# with the same options, else it reads HEADER itself.
if PCH
pch_include = -include common/base/precompiled.h
tests_pch_include = -include tests/unit/precompiled.h
pch = common/base/precompiled.h.gch/library.gch
tests_pch = tests/unit/precompiled.h.gch/program.gch
endif

precompile = $(AM_V_GEN)$(MKDIR_P) $(@D) && $(CXX) $(DEFS) $(DEFAULT_INCLUDES) \
	$(INCLUDES) $(plain_cppflags) $(CPPFLAGS) $(SANITIZED_CXXFLAGS)

common/base/precompiled.h.gch/library.gch: common/base/precompiled.h Makefile
	$(precompile) $(CXXFLAGS) -fPIC -DPIC -x c++-header -o $@ \
		$(srcdir)/common/base/precompiled.h
	@$(pch_sum)

tests/unit/precompiled.h.gch/program.gch: common/base/precompiled.h \
		tests/unit/precompiled.h Makefile
	$(precompile) $(tests_cppflags) $(CXXFLAGS) $(tests_cxxflags) \
		-x c++-header -o $@ $(srcdir)/tests/unit/precompiled.h
	@$(pch_sum)

# Two runs of the compiler give two different files. What ccache compares instead
# (CCACHE_PCH_EXTSUM) is what they were made from; it knows the compiler itself.
pch_sum = { cat $(srcdir)/common/base/precompiled.h; \
	echo '$(BRIDGE_CPPFLAGS) $(SANITIZED_CXXFLAGS) $(CXXFLAGS)'; } | \
	cksum > $@.sum

clean-local:
	rm -rf common/base/precompiled.h.gch tests/unit/precompiled.h.gch
