# Builds and runs tests, for the Makefile, whose variables it uses; README.md says which test is for
# what. A test program is tests/test_X.c (GLib) or tests/parity*.c and tests/golden*.c (the core
# only); all of them print TAP.
# SPDX-License-Identifier: MIT

CHECKS = parity lint unit gui-few golden
# `make check` leaves these to `make check-all`: other builds of the same, and what takes long.
LONG_CHECKS = vm-test gui-test tsan-all asan-fuzz unit-long lint-long goldens arm package odd-folder
FUZZ_SECONDS ?= 60
.PHONY: check check-all $(CHECKS) $(LONG_CHECKS) asan fuzz tsan tsan-gui fuzz-run vm-ready \
        vm-window vm-window-ready package-ready deb-check abi faults soak \
        gpu-test accuracy accuracy-packages papers bench-sgbm sgbm-figures
in_build = $(patsubst tests/%.c,$(BUILD)/%,$(wildcard tests/$(1).c))
PARITY = $(call in_build,parity*)
GOLDEN = $(call in_build,golden*)
FUZZ = $(call in_build,fuzz_*)
GUI = $(patsubst gui/%,%,$(subst /gui/,/,$(call in_build,gui/test_*)))
UNIT = $(filter-out $(if $(X86),,%/test_faults) $(if $(HAVE_OPENCV),,%/test_calibration_opencv), \
       $(call in_build,test_*))
# Tests whose own code computes much; to optimise the others takes longer than they run.
COMPUTING = calibration_depth pair_check part pruning reach refine row_error
QUICK_TESTS = $(filter-out $(COMPUTING:%=tests/test_%.c),$(filter tests/test_% tests/gui/%,$<))
OBJECTS_FIRST = $(filter %.o,$^) $(filter %.a,$^)
# Fuzzers are linked with what reads input, and guided by that, not by loops over pixels.
NO_INPUT = gpu/% render/% app/main.c app/matcher.c app/cmd_view.c app/live/% app/view/% \
           app/batch/cmd_% app/calibrate/cmd_% app/eval/cmd_% app/eval/eval_% \
           app/run/cmd_%
INPUT = $(filter-out $(NO_INPUT),$(C)) app/live/quality.c app/view/session.c \
        app/view/state.c render/theme.c
COVERED = $(if $(COVERAGE),$(if $(filter $(GUIDES),$<),$(COVERAGE)))
CALLED = $(patsubst %,gpu/%.c,frames inputs inspect measure mistakes open rig_file settings solve)
GUIDES = $(filter-out capture/synth/%,$(INPUT)) $(CALLED) tests/fuzz_%
$(BUILD)/input.a: $(call obj,$(INPUT)) $(GENERATED)
$(FUZZ): $(BUILD)/input.a
$(FUZZ): private override LDFLAGS += -fsanitize=fuzzer
$(BUILD)/fuzz_library: $(LIBRARY_OBJECTS)
define LINK_TEST
$(call say,LINK,$@)
$(Q)$(LINK) $(addprefix -Xlinker --wrap=,$(WRAPPED)) -o $@ $(OBJECTS_FIRST) $(LIBS)
endef
$(UNIT): $(BUILD)/tests/main.c.o $(BUILD)/all.a
$(UNIT) $(FUZZ): $(BUILD)/%: $(BUILD)/tests/%.c.o
	$(LINK_TEST)
$(filter %/test_calibration_opencv,$(UNIT)): $(BUILD)/tests/opencv_oracle.cc.o
$(GUI): $(BUILD)/%: $(BUILD)/tests/gui/%.c.o $(BUILD)/tests/gui/gui.c.o $(BUILD)/tests/main.c.o \
        $(BUILD)/all.a
	$(LINK_TEST)
# Functions that tests let fail or watch. Linked statically, libyaml's allocations fail, too.
ALLOCATIONS = malloc calloc realloc aligned_alloc posix_memalign pthread_create
$(BUILD)/test_library_alloc: private STATIC_LIBS = -l:libyaml.a
$(BUILD)/test_library_alloc: WRAPPED = $(ALLOCATIONS)
$(BUILD)/test_live: WRAPPED = matcher_start
$(BUILD)/test_alloc: WRAPPED = $(ALLOCATIONS) log_at
$(BUILD)/test_lost_gpu $(BUILD)/test_library_lost: WRAPPED = backend_cuda_open backend_cpu_open
$(BUILD)/test_graph: \
    WRAPPED = graph_buffer graph_persistent graph_import graph_clear
$(BUILD)/test_gst_plugin: private LIBS += $(shell $(PKG_CONFIG) --libs gstreamer-check-1.0)
$(BUILD)/test_gst_plugin.ran: $(PLUGIN)
PRELOADED = $(patsubst %,$(BUILD)/%.so,given_input lost_context held_pipeline held_solver \
            listed_cameras)
$(PRELOADED): $(BUILD)/%.so: tests/gui/%.c
$(BUILD)/preload_faults.so: tests/preload_faults.c
$(PRELOADED) $(BUILD)/preload_faults.so: $(BUILD)/c.stamp
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE -O1 $(CWARN) -shared -fPIC -o $@ $(filter %.c,$^)
$(BUILD)/test_faults: | $(BUILD)/preload_faults.so
# CUDA kernels compiled for the processor, in one object; sanitizers do not know their stacks.
EMULATED = $(patsubst %,$(BUILD)/emulated/%.o,$(wildcard tests/emulated_gpu/*.cc) \
           $(patsubst %,gpu/cuda/%.cu,active bp pruned pruned_cost cross downsample feature match \
           census sampled picture surface border_plane refinement median speckle fill))
$(EMULATED): $(BUILD)/emulated/%.o: % $(BUILD)/c.stamp
	$(call say,CXX,$<)
	$(Q)$(CXX) -x c++ -std=c++17 -Itests/emulated_gpu $(COMMON) -w $(CXXFLAGS) -c -o $@ $<
$(BUILD)/emulated.o: $(EMULATED)
	$(call say,LINK,$@)
	$(Q)$(LD) -r --force-group-allocation -o $@.all $^
	$(Q)$(OBJCOPY) --keep-global-symbol=emulated_backend_open $@.all $@
EMULATED_GPU = $(if $(SANITIZE),,$(BUILD)/emulated.o)
$(PARITY): $(EMULATED_GPU)
ON_SHUFFLED = $(PARITY) $(patsubst %,$(BUILD)/test_%,graph lost_gpu library_lost pruning reach)
$(ON_SHUFFLED): $(BUILD)/tests/shuffled_backend.c.o
$(PARITY) $(BUILD)/test_pruning $(BUILD)/test_reach: $(BUILD)/tests/stage_cases.c.o
BENCH_GPU = $(BUILD)/bench_gpu
DEVICE = $(BUILD)/parity_device
$(PARITY) $(GOLDEN) $(BENCH_GPU): $(BUILD)/%: $(BUILD)/tests/%.c.o
$(DEVICE): $(BUILD)/tests/parity_device.cu.o
$(PARITY) $(GOLDEN) $(BENCH_GPU) $(DEVICE): $(BUILD)/core.a
	$(call say,LINK,$@)
	$(Q)$(LINK) -o $@ $(OBJECTS_FIRST) $(CUDA_LIBS) -lstdc++ -lm
# These have to report.
REPORTS = $(patsubst %,$(BUILD):%,unit gui-few parity golden) $(LINT:%=lint:%)
LONG_REPORTS = $(patsubst %,$(BUILD):%,vm-test gui unit-long) $(LONG_LINT:%=lint:%) \
               $(foreach b,tsan asan,$(BUILD)/$b:unit $(BUILD)/$b:parity) $(BUILD)/tsan:gui \
               $(GOLDENS:%=$(BUILD)/%:golden) $(patsubst %,$(BUILD)/arm:%,parity golden) \
               $(patsubst $(BUILD)/fuzz_%,fuzz:%,$(FUZZ)) $(PACKAGE:%=package:%) odd-folder
run_checks = +$(Q)CUDA_ARCH="$(CHECK_ARCH)" CUDA_QUICK="$(CHECK_CUDA_QUICK)" \
    CHECK_MAKE="$(MAKE) --no-print-directory --output-sync=target \
    $(if $(findstring -j,$(MAKEFLAGS)),,-j$$(($$(nproc) + 1)))" tests/check.sh $(BUILD)
check:
	@tests/packages.sh check
	$(run_checks) '$(CHECKS)' $(REPORTS)
check-all:
	@tests/packages.sh all
	$(run_checks) '$(LONG_CHECKS) $(filter-out gui-few,$(CHECKS))' \
	    $(filter-out %:gui-few,$(REPORTS)) $(LONG_REPORTS)
# X.ran runs the test program X and keeps what became of it; a part sums that up.
%.ran: % FORCE
	$(Q)LIVESTEREO_BIN=$(BUILD)/livestereo \
	    tests/run.sh $(if $(filter $@,$(MAKECMDGOALS)),--alone,--program) $(@:.ran=)
# sums_up PART NAME PROGRAMS
define sums_up
$(1): $$($(3):%=%.ran)
	$$(Q)tests/run.sh --sum $$(BUILD):$(2) $$($(3))
endef
# A language whose numbers have a comma; the C library forgets to free its path, as sanitizers see.
LOCALES = $(abspath $(BUILD))/locale:/usr/lib/locale
$(UNIT:%=%.ran): $(BUILD)/livestereo $(BUILD)/locale/de_DE.UTF-8
$(UNIT:%=%.ran): private export LOCPATH = $(if $(SANITIZE),,$(LOCALES))
$(BUILD)/locale/de_DE.UTF-8:
	$(call say,LOCAL,$@)
	$(Q)localedef -f UTF-8 -i de_DE $@
# ThreadSanitizer leaves out programs of one thread or that meet in GLib's locks, and those whose
# threads parity, test_alloc, test_live and test_batch have.
ONE_THREAD = agreement blocks calibration calibration_depth calibration_fold calibration_opencv \
             coverage deblock graph gst_plugin library_lost matching_input mrf \
             mrf_energy occlusion oracle oracle_pipeline oracle_postprocess oracle_surface \
             pair_check params picture pruning reach rig row_error row_offset
BACKEND_THREADS = eval features field flow library library_alloc mcap motion part solve temporal
NO_THREADS = $(if $(findstring =thread,$(SANITIZE)),$(ONE_THREAD) $(BACKEND_THREADS))
# These take longest and find the least beside the rest: sanitizers do not watch them.
LONG_TESTS = faults cli_faults cli_calibrate refine
UNIT_RUN = $(filter-out $(NO_THREADS:%=$(BUILD)/test_%),$(UNIT))
LONG_UNIT = $(LONG_TESTS:%=$(BUILD)/test_%)
SHORT_UNIT = $(filter-out $(LONG_UNIT),$(UNIT_RUN))
$(eval $(call sums_up,unit,unit,SHORT_UNIT))
$(eval $(call sums_up,unit-long,unit-long,LONG_UNIT))
# A real window on a display of its own. What ThreadSanitizer says of libraries is left out by name.
$(GUI:%=%.ran): private override export RUNNER := tests/gui/display.sh $(RUNNER)
$(GUI:%=%.ran): private export TSAN_OPTIONS = halt_on_error=1:suppressions=tests/gui/tsan.supp
$(GUI:%=%.ran): $(BUILD)/livestereo $(PRELOADED)
GUI_FEW = $(BUILD)/test_gui_server $(BUILD)/test_gui_keys
$(eval $(call sums_up,gui-few,gui-few,GUI_FEW))
$(eval $(call sums_up,gui-test,gui,GUI))
$(PARITY:%=%.ran): private export TEST_ARGS = $(PARITY_ARGS)
$(eval $(call sums_up,parity,parity,PARITY))
$(eval $(call sums_up,golden,golden,GOLDEN))
# Other builds of the same.
GOLDENS = gcc-O0 clang-O0 clang-O3
goldens: golden $(GOLDENS:%=golden-%)
$(GOLDENS:%=golden-%) arm asan fuzz asan-fuzz tsan tsan-gui tsan-all:
	+$(Q)MAKE="$(MAKE)" BUILD=$(BUILD) tests/other_build.sh $@
fuzz-run: $(FUZZ:%=%.fuzzed)
%.fuzzed: % FORCE
	$(Q)FUZZ_SECONDS=$(FUZZ_SECONDS) tests/fuzz.sh $(BUILD) $<
export RUNNER
# Every fault of each kind, of allocations three of each call site; FAULTS=0: all, in over a day.
FAULTS ?= sites
faults: $(BUILD)/livestereo $(BUILD)/test_faults
	$(Q)LIVESTEREO_FAULTS=$(FAULTS) LIVESTEREO_TEST_SECONDS=86400 LIVESTEREO_BIN=$(BUILD)/livestereo \
	    tests/run.sh $(BUILD):faults $(BUILD)/test_faults
soak: $(BUILD)/livestereo
	tests/soak.sh $(BUILD)/livestereo $(SOAK_FRAMES)
# Live cameras, of the kernel's own drivers, in a virtual machine; with a window in eight minutes.
VM_TESTS = vivid uvc
VM_PROGRAMS = $(BUILD)/livestereo $(BUILD)/vm_pairs $(BUILD)/vm_usb_camera $(BUILD)/vm_make_clip \
              $(BUILD)/test_gui_cameras $(BUILD)/test_gui_walks $(BUILD)/given_input.so
$(BUILD)/vm_%: $(BUILD)/tests/vm/vm_%.c.o $(BUILD)/all.a
	$(LINK_TEST)
VM = $(patsubst %,$(BUILD)/vm_test_%,$(VM_TESTS) replay)
VM_WINDOW = $(BUILD)/vm_test_window $(BUILD)/vm_test_walk
vm-ready: $(VM_PROGRAMS)
	$(Q)tests/vm/prepare.sh $(BUILD) $(VM_TESTS)
vm-window-ready: vm-ready
	$(Q)tests/vm/prepare.sh $(BUILD) window walk
$(VM): vm-ready ;
$(VM_WINDOW): vm-window-ready ;
$(BUILD)/vm_test_replay.ran: $(BUILD)/vm_test_uvc.ran # of what was recorded there
$(eval $(call sums_up,vm-test,vm-test,VM))
$(eval $(call sums_up,vm-window,vm-window,VM_WINDOW))
LINT = tidy format style headers layers budget man desktop deb release
# Readers of the sources that follow what a function computes.
LONG_LINT = analyser cppcheck
lint: $(LINT:%=lint-%)
lint-long: $(LONG_LINT:%=lint-%)
lint-man: $(BUILD)/livestereo.1
$(LINT:%=lint-%) $(LONG_LINT:%=lint-%): lint-%:
	$(Q)BUILD="$(BUILD)" CFLAGS="$(PKG_CFLAGS)" CALIB_CFLAGS="$(CALIB_CFLAGS)" \
	    tests/run.sh --step lint:$* tests/lint.sh $*
# The library as others use it, from a folder that it is installed in.
PACKAGE = symbols hardened header abi examples cuda gst uninstall python readme ros
INSTALLED = $(BUILD)/installed
package: $(PACKAGE:%=package-%)
package-ready: private override DESTDIR = $(INSTALLED)
package-ready: all
	$(Q)rm -rf $(INSTALLED) && $(INSTALLER) all
$(PACKAGE:%=package-%): package-%: package-ready
	$(Q)MAKE="$(MAKE)" PYTHON="$(PYTHON)" tests/run.sh --step package:$* \
	    tests/package.sh $* $(INSTALLED)
$(patsubst %,package-%,hardened python readme): wheel
odd-folder:
	$(Q)tests/run.sh --step odd-folder tests/odd_folder.sh
deb-check: deb
	@tests/packages.sh all
	$(Q)tests/run.sh --step deb tests/deb.sh $(BUILD)/deb $(DEBS)
# After a change of the library's interface that is meant.
abi: lib
	tests/abi/write.sh $(BUILD)/$(SO) tests/abi/liblivestereo.abi
# On a machine with a GPU; needs nvcc, gcc and make only.
gpu-test: $(if $(CU),,need-cuda) $(PARITY) $(GOLDEN) $(DEVICE) $(BENCH_GPU)
	$(Q)LIVESTEREO_NEED_CUDA=1 tests/run.sh $(BUILD):gpu-test $(PARITY) $(GOLDEN) $(DEVICE)
	$(Q)tests/run.sh --step gpu-sanitizers tests/gpu_sanitize.sh $(BUILD)
	$(Q)python3 tests/raw_pairs.py $(DATA) $(BUILD)/pairs || true
	$(BENCH_GPU) --pairs $(BUILD)/pairs
	$(BENCH_GPU) --cameras
need-cuda:
	@echo "gpu-test: needs nvcc (on the PATH or under /usr/local/cuda) and gpu/cuda/*.cu" >&2; exit 1
DATA = $(or $(LIVESTEREO_DATA),../shared/data)
SGBM_PAIRS = $(patsubst %,$(DATA)/%,$(addprefix middlebury/,tsukuba venus teddy cones motorcycle \
             aloe) driving/kitti2015_pair)
$(BUILD)/compare_sgbm: $(BUILD)/tests/sgbm/compare_sgbm.c.o $(BUILD)/tests/sgbm/sgbm.cc.o
$(BUILD)/draw_scenes: $(BUILD)/tests/draw_scenes.c.o
$(BUILD)/draw_sequences: $(BUILD)/tests/draw_sequences.c.o
$(BUILD)/compare_sgbm $(BUILD)/draw_scenes $(BUILD)/draw_sequences: $(BUILD)/all.a
	$(LINK_TEST)
bench-sgbm: $(BUILD)/compare_sgbm $(BUILD)/livestereo
	$< $(or $(THREADS),2) $(SGBM_PAIRS)
	for p in live default; do $(BUILD)/livestereo eval --preset $$p --repeat 5 -q \
	    --set backend=cpu --set threads=$(or $(THREADS),2) $(SGBM_PAIRS); done
accuracy papers sgbm-figures: accuracy-packages
accuracy-packages:
	@tests/packages.sh accuracy
sgbm-figures: $(BUILD)/compare_sgbm $(BUILD)/draw_scenes
	@tests/accuracy.py --sgbm $<
# Prints the tables of docs/RESULTS.md, in fifteen minutes of a processor; writes docs/PAPERS.md.
accuracy: $(BUILD)/livestereo $(BUILD)/draw_scenes $(BUILD)/draw_sequences
	@tests/results.sh $(BUILD)/livestereo $(PRESETS)
papers: $(BUILD)/livestereo $(BUILD)/test_blocks
	@$(PYTHON) tests/papers.py $(BUILD)/livestereo $(DATA)
