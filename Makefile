# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause

# Variables that the targets understand, handed on through sudo
PASS := $(foreach v,KERNEL LANE T LINK SKERRY_BUILD KVER DESTDIR BENCH ROUNDS SEED,$(if $($(v)),$(v)='$($(v))'))
RUN := $(if $(filter 0,$(shell id -u)),env,sudo env) $(PASS)

help:
	@echo 'make demo        two hosts talk RDMA through skerry, in a virtual machine'
	@echo 'make test        unit tests, static checks, all selftests on both kernels and'
	@echo '                 some in the lane kasan'
	@echo '                 T="GLOB..."      only these: unit, check/NAME, FOLDER/NAME'
	@echo '                 KERNEL=6.12|7.3  only this kernel (demo: 7.3 if not given)'
	@echo '                 LANE=kasan       only the selftests, all of them, in User-mode'
	@echo '                                  Linux with KASAN and UBSAN'
	@echo '                 LANE=lockdep     likewise, with lockdep and kmemleak'
	@echo '                 LANE=kcsan       likewise, in QEMU, with KCSAN: data races'
	@echo '                 LANE=native      likewise, with nothing that costs time'
	@echo 'make check       static checks only'
	@echo 'make unit        unit tests only'
	@echo 'make selftests   selftests in the guests only'
	@echo 'make bench       side by side with rxe and TCP: tables in build/bench'
	@echo '                 BENCH=poller: settings of the poller; BENCH=locks: who waits'
	@echo '                 for locks; BENCH=kernel_verbs: kernel verbs in the lane'
	@echo '                 native; ROUNDS=N: how often'
	@echo 'make sim         simulate congestion control: long tests, tables and pictures'
	@echo 'make demo-congestion   four senders, one receiver, in a guest: with DCQCN and'
	@echo '                 without; a picture and a table in build/congestion'
	@echo 'make qemu        a shell in the guest; with LANE=kasan, in that lane'
	@echo 'make modules     build the module for the guest kernels, or LANE'
	@echo 'make provider    build the provider for the guest'
	@echo 'make install     module and provider for this machine'
	@echo 'make uninstall   take them out again'
	@echo 'make format      bring C++ files into the style that make check asks for'
	@echo 'make clean       remove build/'
	@echo
	@echo 'Everything is made under build/; SKERRY_BUILD=DIR puts it elsewhere.'

demo:
	@$(RUN) scripts/run-demo

test:
	@$(RUN) scripts/run-tests

check:
	@$(RUN) T='check/*' scripts/run-tests

unit:
	@$(RUN) T=unit scripts/run-tests

selftests:
	@$(RUN) T='$(or $(T),*/*.sh */*.py)' scripts/run-tests

bench:
	@$(RUN) scripts/run-bench

sim:
	@$(RUN) scripts/run-sim

demo-congestion:
	@$(RUN) scripts/run-demo-congestion

qemu:
	@$(RUN) scripts/run-shell

modules provider:
	@$(RUN) scripts/build $@

format:
	@$(RUN) scripts/format

install uninstall:
	@$(RUN) scripts/$@

clean:
	@$(RUN) rm -rf --one-file-system $(or $(SKERRY_BUILD),build)

.PHONY: help demo demo-congestion test check unit selftests bench sim qemu modules provider format \
	install uninstall clean
