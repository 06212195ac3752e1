# What builds and runs tests, measures, and makes what is compared with: for the Makefile, whose
# variables it uses. README.md says which test is for what, `make help` names the targets. A test
# program is tests/test_X.c (GLib) or tests/parity*.c and tests/golden*.c (no GLib, gpu/ and the
# core files only); all of them print TAP.
# SPDX-License-Identifier: MIT

CHECK_PACKAGES = $(RUN_PACKAGES) xvfb xauth xdotool clang-format clang-tidy cppcheck mandoc \
                 desktop-file-utils appstream locales gstreamer1.0-tools python3-numpy \
                 python3-pil python3-websockets
ALL_PACKAGES = $(CHECK_PACKAGES) clang lld libclang-rt-dev abigail-tools binutils \
               python3-pytest python3-setuptools python3-venv python3-wheel python3-selenium \
               mypy cmake meson ninja-build \
               chromium-driver gcc-aarch64-linux-gnu g++-aarch64-linux-gnu qemu-user-static \
               libsimde-dev

VM_PACKAGES = qemu-system-x86 busybox-static cpio kmod xz-utils v4l-utils
# All of them are one make's: as many jobs at a time as there are cores, and one more since some
# tests wait, compilers and test programs alike.
CHECKS = unit gui-few parity golden lint
# What `make check` leaves to `make check-all`: other builds of the same, and what takes long.
LONG_CHECKS = vm-test gui-test tsan-all asan-fuzz unit-long goldens arm package odd-folder

.PHONY: check check-all deps-check deps-check-all accuracy bench-sgbm papers sgbm-figures
.PHONY: unit unit-long gui-test gui-few parity golden goldens arm asan tsan tsan-all tsan-gui
.PHONY: fuzz asan-fuzz fuzz-run vm-test vm-ready vm-window vm-window-ready lint gpu-test
.PHONY: arm-instructions deb-check package package-ready odd-folder abi verify-hashes faults soak

PARITY = $(patsubst tests/%.c,$(BUILD)/%,$(wildcard tests/parity*.c))
GOLDEN = $(patsubst tests/%.c,$(BUILD)/%,$(wildcard tests/golden*.c))
GUI = $(patsubst tests/gui/%.c,$(BUILD)/%,$(wildcard tests/gui/test_*.c))
UNIT = $(patsubst tests/%.c,$(BUILD)/%,$(filter-out $(if $(X86),,tests/test_faults.c), \
       $(wildcard tests/test_*.c)))
FUZZ = $(patsubst tests/%.c,$(BUILD)/%,$(wildcard tests/fuzz_*.c))

# Tests whose own code computes much; to optimise the others takes longer than they run.
COMPUTING = calibration_depth pair_check part pruning reach refine row_error
QUICK_TESTS = $(filter-out $(COMPUTING:%=tests/test_%.c),$(filter tests/test_% tests/gui/%,$<))

OBJECTS_FIRST = $(filter %.o,$^) $(filter %.a,$^)
# Fuzzers read input; what computes and draws is not linked with them, but for the library's. What
# they have not run yet guides them through the code that reads, not through loops over pixels.
NO_INPUT = gpu/% render/% app/main.c app/matcher.c app/cmd_view.c app/live/% app/view/% \
           app/batch/cmd_% app/bench/cmd_% app/calibrate/cmd_% app/eval/cmd_% app/eval/eval_% \
           app/run/cmd_% app/solve/cmd_%
INPUT = $(filter-out $(NO_INPUT),$(C)) app/view/session.c app/view/settings.c render/theme.c
COVERED = $(if $(COVERAGE),$(if $(filter $(GUIDES),$<),$(COVERAGE)))
CALLED = $(patsubst %,gpu/%.c,frames inputs inspect measure mistakes open rig_file settings solve)
GUIDES = $(filter-out capture/synth/%,$(INPUT)) $(CALLED) tests/fuzz_%
$(BUILD)/input.a: $(call obj,$(INPUT)) $(GENERATED)
$(FUZZ): $(BUILD)/input.a
$(BUILD)/fuzz_library: $(LIBRARY_OBJECTS)
$(UNIT): $(BUILD)/tests/main.c.o $(BUILD)/all.a
$(UNIT) $(FUZZ): $(BUILD)/%: $(BUILD)/tests/%.c.o
	$(call say,LINK,$@)
	$(Q)$(LINK) -o $@ $(OBJECTS_FIRST) $(LIBS)
ifneq ($(HAVE_OPENCV),)
$(BUILD)/test_calibration_opencv: $(BUILD)/tests/opencv_oracle.cc.o
else
UNIT := $(filter-out %/test_calibration_opencv,$(UNIT))
endif
$(FUZZ): private override LDFLAGS += -fsanitize=fuzzer
$(BUILD)/test_alloc $(BUILD)/test_library_alloc: private override LDFLAGS += \
    -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc,--wrap=posix_memalign \
    -Wl,--wrap=pthread_create
$(BUILD)/test_alloc: private override LDFLAGS += -Wl,--wrap=log_at
$(BUILD)/test_gst_plugin: private LIBS += $(shell $(PKG_CONFIG) --libs gstreamer-check-1.0)
$(BUILD)/test_gst_plugin.ran: $(PLUGIN)
# Linked statically, libyaml's allocations fail, too.
$(BUILD)/test_library_alloc: private STATIC_LIBS = -l:libyaml.a
$(BUILD)/test_live: private override LDFLAGS += -Wl,--wrap=matcher_start
$(BUILD)/test_lost_gpu $(BUILD)/test_library_lost: private override LDFLAGS += \
    -Wl,--wrap=backend_cuda_open,--wrap=backend_cpu_open
$(BUILD)/test_graph $(BUILD)/test_waits: private override LDFLAGS += \
    -Wl,--wrap=graph_buffer,--wrap=graph_persistent,--wrap=graph_import,--wrap=graph_clear
$(GUI): $(BUILD)/%: $(BUILD)/tests/gui/%.c.o $(BUILD)/tests/gui/gui.c.o $(BUILD)/all.a
	$(call say,LINK,$@)
	$(Q)$(LINK) -o $@ $^ $(LIBS)
PRELOADED = $(patsubst %,$(BUILD)/%.so,given_input lost_context held_pipeline held_solver \
            listed_cameras)
$(PRELOADED): $(BUILD)/%.so: tests/gui/%.c $(BUILD)/c.stamp
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE $(CWARN) -shared -fPIC -o $@ $<
$(BUILD)/preload_faults.so: tests/preload_faults.c $(BUILD)/c.stamp
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE -O1 $(CWARN) -shared -fPIC -o $@ $<
$(BUILD)/test_faults: | $(BUILD)/preload_faults.so
# CUDA kernels compiled for the processor, whose names stay in one object.
EMULATED = $(patsubst %,$(BUILD)/emulated/%.o,$(wildcard tests/emulated_gpu/*.cc) \
           $(patsubst %,gpu/cuda/%.cu,active bp pruned pruned_cost cross downsample feature match \
           census sampled picture surface border_plane refinement area))
$(EMULATED): $(BUILD)/emulated/%.o: % $(BUILD)/c.stamp
	$(call say,CXX,$<)
	@mkdir -p $(@D)
	$(Q)$(CXX) -x c++ -std=c++17 -Itests/emulated_gpu $(COMMON) -w $(CXXFLAGS) \
	    -c -o $@ $<
$(BUILD)/emulated.o: $(EMULATED)
	$(call say,LINK,$@)
	$(Q)$(LD) -r --force-group-allocation -o $@.all $^
	$(Q)$(OBJCOPY) --keep-global-symbol=emulated_backend_open $@.all $@
# Not where nothing runs on them: sanitizers do not know their stacks, on Arm they take too long.
EMULATED_GPU = $(if $(SANITIZE),,$(BUILD)/emulated.o)
$(PARITY): $(EMULATED_GPU)
ON_SHUFFLED = $(PARITY) $(patsubst %,$(BUILD)/test_%,lost_gpu library_lost pruning reach waits)
$(ON_SHUFFLED): $(BUILD)/tests/shuffled_backend.c.o
$(PARITY) $(BUILD)/test_pruning $(BUILD)/test_reach: $(BUILD)/tests/stage_cases.c.o
$(BUILD)/bench_gpu: $(call obj,app/bench/bench.c)
$(PARITY) $(GOLDEN) $(BUILD)/bench_gpu: $(BUILD)/%: $(BUILD)/tests/%.c.o $(BUILD)/core.a
	$(call say,LINK,$@)
	$(Q)$(LINK) -o $@ $(OBJECTS_FIRST) $(CUDA_LIBS) -lstdc++ -lm

# What has to report; what does not has not been built.
REPORTS = $(patsubst %,$(BUILD):%,unit gui-few parity golden) $(LINT:%=lint:%)
LONG_REPORTS = $(patsubst %,$(BUILD):%,vm-test gui unit-long) \
               $(foreach b,tsan asan,$(BUILD)/$b:unit $(BUILD)/$b:parity) $(BUILD)/tsan:gui \
               $(GOLDENS:%=$(BUILD)/%:golden) $(patsubst %,$(BUILD)/arm:%,parity golden) \
               $(patsubst $(BUILD)/fuzz_%,fuzz:%,$(FUZZ)) $(PACKAGE:%=package:%) odd-folder
run_checks = +$(Q)CUDA_ARCH="$(CHECK_ARCH)" CUDA_QUICK="$(CHECK_CUDA_QUICK)" \
    CHECK_MAKE="$(MAKE) --no-print-directory --output-sync=target \
    $(if $(findstring -j,$(MAKEFLAGS)),,-j$$(($$(nproc) + 1)))" tests/check.sh $(BUILD)
check: deps-check
	$(run_checks) '$(CHECKS)' $(REPORTS)
check-all: deps-check-all
	$(run_checks) '$(LONG_CHECKS) $(filter-out gui-few,$(CHECKS))' \
	    $(filter-out %:gui-few,$(REPORTS)) $(LONG_REPORTS)

deps-check:
	@tests/packages.sh $(CHECK_PACKAGES)
deps-check-all:
	@tests/packages.sh $(ALL_PACKAGES) $(VM_PACKAGES)

# ---- the parts of `make check` and `make check-all`

# X.ran runs the test program X and keeps what became of it; a part's own line sums that up.
RUN_TEST = $(Q)LIVESTEREO_BIN=$(BUILD)/livestereo \
           tests/run.sh $(if $(filter $@,$(MAKECMDGOALS)),--alone,--program) $(@:.ran=)
%.ran: % FORCE
	$(RUN_TEST)
$(UNIT:%=%.ran): $(BUILD)/livestereo $(BUILD)/locale/de_DE.UTF-8
# A language whose numbers have a comma, which the machine may not have.
# The C library forgets to free that path, as AddressSanitizer sees: not with sanitizers.
LOCALES = $(abspath $(BUILD))/locale:/usr/lib/locale
$(UNIT:%=%.ran): private export LOCPATH = $(if $(SANITIZE),,$(LOCALES))
$(BUILD)/locale/de_DE.UTF-8:
	$(call say,LOCAL,$@)
	@mkdir -p $(@D)
	$(Q)localedef -f UTF-8 -i de_DE $@
# Programs of one thread, of which ThreadSanitizer has nothing to say, run without it alone. So does
# test_gst_plugin, whose threads meet in GLib's locks, which it does not see.
ONE_THREAD = agreement blocks calibration calibration_depth calibration_fold calibration_opencv \
             coverage deblock graph gst_plugin library_lost matching_input mrf \
             mrf_energy occlusion oracle oracle_pipeline oracle_postprocess oracle_surface \
             pair_check params picture pruning reach refine rig row_error row_offset waits
# And those whose threads are the CPU backend's alone, of which it hears in parity and test_alloc,
# or those of run and batch on other sources, of which it hears in test_live and test_batch.
BACKEND_THREADS = eval features field flow library library_alloc mcap motion part solve temporal
UNIT_RUN = $(filter-out $(if $(findstring =thread,$(SANITIZE)),\
           $(patsubst %,$(BUILD)/test_%,$(ONE_THREAD) $(BACKEND_THREADS))),$(UNIT))
# What takes longest, and finds the least beside the rest; with sanitizers it takes hours.
LONG_UNIT = $(LONG_TESTS:%=$(BUILD)/test_%)
LONG_TESTS = faults cli_faults cli_calibrate refine waits
unit: $(patsubst %,%.ran,$(filter-out $(LONG_UNIT),$(UNIT_RUN)))
	$(Q)tests/run.sh --sum $(BUILD):unit $(filter-out $(LONG_UNIT),$(UNIT_RUN))
unit-long: $(LONG_UNIT:%=%.ran)
	$(Q)tests/run.sh --sum $(BUILD):unit-long $(LONG_UNIT)
# A real window on a display of its own; programs that need one skip themselves where there is none.
# What ThreadSanitizer says of libraries is left out, each by its name.
$(GUI:%=%.ran): private override export RUNNER := tests/gui/display.sh $(RUNNER)
$(GUI:%=%.ran): private export TSAN_OPTIONS = halt_on_error=1:suppressions=tests/gui/tsan.supp
$(GUI:%=%.ran): $(BUILD)/livestereo $(PRELOADED)
GUI_FEW = server keys
gui-few: $(GUI_FEW:%=$(BUILD)/test_gui_%.ran)
	$(Q)tests/run.sh --sum $(BUILD):gui-few $(GUI_FEW:%=$(BUILD)/test_gui_%)
gui-test: $(GUI:%=%.ran)
	$(Q)tests/run.sh --sum $(BUILD):gui $(GUI)
$(PARITY:%=%.ran): private export TEST_ARGS = $(PARITY_ARGS)
parity: $(PARITY:%=%.ran)
	$(Q)tests/run.sh --sum $(BUILD):parity $(PARITY)
golden: $(GOLDEN:%=%.ran)
	$(Q)tests/run.sh --sum $(BUILD):golden $(GOLDEN)

# With gcc -O3 in the build itself.
GOLDENS = gcc-O0 clang-O0 clang-O3
goldens: golden $(GOLDENS:%=golden-%)
golden-gcc-%:
	$(SUB) BUILD=$(BUILD)/gcc-$* CC=gcc CFLAGS=-$* CUDA=0 golden
golden-clang-%:
	$(SUB) BUILD=$(BUILD)/clang-$* CC=clang CXX=clang++ CFLAGS=-$* CUDA=0 golden

# On Arm: the optimised stages by SIMDe, in NEON, against the plain ones, and the goldens, emulated.
ARM = aarch64-linux-gnu-
ON_ARM = CC=$(ARM)gcc CXX=$(ARM)g++ AR=$(ARM)ar LD=$(ARM)ld OBJCOPY=$(ARM)objcopy \
         LDFLAGS=-static CUDA=0
arm:
	$(SUB) BUILD=$(BUILD)/arm $(ON_ARM) CFLAGS='-O3 -g1' RUNNER=qemu-aarch64-static \
	    PARITY_ARGS='--small --backend cpu' EMULATED_GPU= \
	    PARITY='$(addprefix $(BUILD)/arm/,parity parity_frames)' golden parity

# Instructions of each function of one frame on one thread, plain and optimised; by hand, with
# Debian's qemu-user, since qemu-user-static takes no plugins.
arm-instructions:
	$(Q)$(CC) -std=c11 -O2 $(CWARN) -shared -fPIC -o $(BUILD)/instructions.so tests/arm/instructions.c
	$(SUB) BUILD=$(BUILD)/arm-O3 $(ON_ARM) $(BUILD)/arm-O3/bench_gpu
	$(Q)for form in --plain ''; do qemu-aarch64 -plugin $(BUILD)/instructions.so \
	    $(BUILD)/arm-O3/bench_gpu --backend cpu --set threads=1 --size 128x96 --labels 64 $$form \
	    default 2>&1 | grep '^[0-9]* [a-z_0-9.]*$$' | sort -rn | head -n 20; done

# AddressSanitizer with its tests, the fuzzers, or both.
ASAN = -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
asan: ASAN_PARTS = unit parity
fuzz: ASAN_PARTS = fuzz-run
asan-fuzz: ASAN_PARTS = unit parity fuzz-run
asan fuzz asan-fuzz:
	$(SUB) BUILD=$(BUILD)/asan CC=clang CXX=clang++ CFLAGS='-O2 -g1' CUDA=0 SANITIZE='$(ASAN)' \
	    COVERAGE=-fsanitize=fuzzer-no-link PARITY_ARGS=--small $(ASAN_PARTS)
fuzz-run: $(FUZZ:%=%.fuzzed)
%.fuzzed: % FORCE
	$(Q)FUZZ_SECONDS=$(FUZZ_SECONDS) tests/fuzz.sh $(BUILD) $<

# Clang's ThreadSanitizer takes a quarter of the time of gcc 12's. Without address randomisation,
# which it may not start under. With its tests, those of the window whose threads have most to do,
# or both.
TSAN_GUI = keys live playback
tsan: TSAN_PARTS = unit parity
tsan-gui: TSAN_PARTS = gui-test
tsan-all: TSAN_PARTS = unit parity gui-test
tsan tsan-gui tsan-all:
	$(SUB) BUILD=$(BUILD)/tsan CC=clang CXX=clang++ CFLAGS='-O2 -g1' CUDA=0 \
	    SANITIZE=-fsanitize=thread PARITY_ARGS=--small \
	    GUI='$(TSAN_GUI:%=$(BUILD)/tsan/test_gui_%)' \
	    RUNNER="$$(setarch -R true 2>/dev/null && echo setarch -R)" $(TSAN_PARTS)
export RUNNER

# Every fault of each kind, instead of the few that a check draws. Where a command allocates more
# than 1000 times, three allocations of each call site; FAULTS=0 tries all, for more than a day.
FAULTS ?= sites
faults: $(BUILD)/livestereo $(BUILD)/test_faults
	$(Q)LIVESTEREO_FAULTS=$(FAULTS) LIVESTEREO_TEST_SECONDS=86400 LIVESTEREO_BIN=$(BUILD)/livestereo \
	    tests/run.sh $(BUILD):faults $(BUILD)/test_faults

soak: $(BUILD)/livestereo
	tests/soak.sh $(BUILD)/livestereo $(SOAK_FRAMES)

# Live cameras, against the kernel's own drivers in a small virtual machine.
VM_TESTS = vivid uvc output
VM_PROGRAMS = $(BUILD)/livestereo $(BUILD)/vm_pairs $(BUILD)/vm_usb_camera $(BUILD)/vm_make_clip \
              $(BUILD)/test_gui_cameras $(BUILD)/test_gui_walks $(BUILD)/given_input.so
$(BUILD)/vm_%: $(BUILD)/tests/vm/vm_%.c.o $(BUILD)/all.a
	$(call say,LINK,$@)
	$(Q)$(LINK) -o $@ $^ $(LIBS)
VM = $(patsubst %,$(BUILD)/vm_test_%,$(VM_TESTS) replay)
vm-ready: $(VM_PROGRAMS)
	$(Q)tests/vm/prepare.sh $(BUILD) $(VM_TESTS)
$(VM): vm-ready ;
VM_WINDOW = $(BUILD)/vm_test_window $(BUILD)/vm_test_walk
$(VM_WINDOW): vm-window-ready ;
vm-window-ready: vm-ready
	$(Q)tests/vm/prepare.sh $(BUILD) window walk
$(BUILD)/vm_test_replay.ran: $(BUILD)/vm_test_uvc.ran # of what was recorded there
vm-test: $(VM:%=%.ran)
	$(Q)tests/run.sh --sum $(BUILD):vm-test $(VM)
# They take about eight minutes, so that check-all leaves them out.
vm-window: $(VM_WINDOW:%=%.ran)
	$(Q)tests/run.sh --sum $(BUILD):vm-window $(VM_WINDOW)

LINT = tidy cppcheck format style headers layers budget man desktop deb release
lint: $(LINT:%=lint-%)
lint-man: $(BUILD)/livestereo.1
$(LINT:%=lint-%): lint-%:
	$(Q)BUILD="$(BUILD)" CFLAGS="$(PKG_CFLAGS)" tests/run.sh --step lint:$* tests/lint.sh $*

# The library as others use it, from a folder that it is installed in.
PACKAGE = symbols hardened header abi examples cuda gst uninstall python readme ros
INSTALLED = $(BUILD)/installed
package: $(PACKAGE:%=package-%)
package-ready: private override DESTDIR = $(INSTALLED)
.SILENT: package-ready
package-ready: all
	$(Q)rm -rf $(INSTALLED)
	$(install_files)
$(PACKAGE:%=package-%): package-%: package-ready
	$(Q)MAKE="$(MAKE)" PYTHON="$(PYTHON)" tests/run.sh --step package:$* \
	    tests/package.sh $* $(INSTALLED)
# A copy of the sources, where names of folders are odd.
odd-folder:
	$(Q)tests/run.sh --step odd-folder tests/odd_folder.sh

$(patsubst %,package-%,hardened python readme): wheel

deb-check: deb
	@tests/packages.sh $(ALL_PACKAGES)
	$(Q)tests/run.sh --step deb tests/deb.sh $(BUILD)/deb $(DEBS)

# After a change of the library's interface that is meant.
abi: lib
	tests/abi/write.sh $(BUILD)/$(SO) tests/abi/liblivestereo.abi
# After a change of results that is meant: what livestereo verify compares with.
verify-hashes: $(BUILD)/livestereo
	$(Q)$< verify --backend cpu 2>$(BUILD)/verify.log | \
	    awk '{print "{\"" $$2 "\", \"" $$5 "\"},"} END {exit !NR}' >$(BUILD)/verify_hashes.inc
	$(Q)mv $(BUILD)/verify_hashes.inc app/bench/verify_hashes.inc
	$(SUB) $<
	$(Q)$< verify --backend cpu --quiet

# On a machine with a GPU; needs nvcc, gcc and make only.
BENCH_GPU = $(BUILD)/bench_gpu
DEVICE = $(BUILD)/parity_device
$(DEVICE): $(BUILD)/tests/parity_device.cu.o $(BUILD)/core.a
	$(call say,LINK,$@)
	$(Q)$(LINK) -o $@ $(OBJECTS_FIRST) $(CUDA_LIBS) -lm
gpu-test: $(if $(CU),,need-cuda) $(PARITY) $(GOLDEN) $(DEVICE) $(BENCH_GPU)
	$(Q)LIVESTEREO_NEED_CUDA=1 tests/run.sh $(BUILD):gpu-test $(PARITY) $(GOLDEN) $(DEVICE)
	$(Q)tests/run.sh --step gpu-sanitizers tests/gpu_sanitize.sh $(BUILD)
	$(Q)python3 tests/raw_pairs.py $(or $(LIVESTEREO_DATA),../shared/data) $(BUILD)/pairs || true
	$(BENCH_GPU) --pairs $(BUILD)/pairs
	$(BENCH_GPU) --cameras
# The CPU backend beside OpenCV's StereoSGBM on pictures with truth; both cores should be free.
SGBM_PAIRS = $(patsubst %,$(or $(LIVESTEREO_DATA),../shared/data)/%,$(addprefix middlebury/, \
             tsukuba venus teddy cones motorcycle aloe) driving/kitti2015_pair)
bench-sgbm: $(BUILD)/compare_sgbm
	$(BUILD)/compare_sgbm $(or $(THREADS),2) config/presets/default.ini config/presets/live.ini \
	    $(SGBM_PAIRS)
$(BUILD)/compare_sgbm: $(call obj,tests/sgbm/compare_sgbm.c) $(BUILD)/tests/sgbm/sgbm.cc.o \
                     $(BUILD)/all.a
	$(call say,LINK,$@)
	$(Q)$(LINK) -o $@ $^ $(LIBS)
# Random scenes with truth, for accuracy; SGBM's errors, which its score compares with.
$(BUILD)/draw_scenes: $(call obj,tests/draw_scenes.c) $(BUILD)/all.a
	$(call say,LINK,$@)
	$(Q)$(LINK) -o $@ $^ $(LIBS)
sgbm-figures: $(BUILD)/compare_sgbm $(BUILD)/draw_scenes
	@tests/packages.sh python3-numpy python3-pil
	@tests/accuracy.py --sgbm $<
# Errors of presets on all pairs with ground truth, clean and degraded: docs/RESULTS.md, in some
# fifteen minutes of a processor.
accuracy: $(BUILD)/livestereo $(BUILD)/draw_scenes
	@tests/packages.sh python3-numpy python3-pil
	@tests/results.sh $(BUILD)/livestereo $(PRESETS)
# What docs/PAPERS.md compares with the papers: its column of our own figures, on the CPU.
papers: $(BUILD)/livestereo $(BUILD)/test_blocks
	@tests/packages.sh python3-numpy python3-pil
	@$(PYTHON) tests/papers.py $(BUILD)/livestereo $(or $(LIVESTEREO_DATA),../shared/data)
need-cuda:
	@echo "gpu-test: needs nvcc (on the PATH or under /usr/local/cuda) and gpu/cuda/*.cu" >&2; exit 1
