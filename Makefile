# livestereo: `make run` and `make check` are all the set-up there is; `make help` lists the rest.
# SPDX-License-Identifier: MIT
#
# Everything is made under $(BUILD). Sources are found by folder, so a new file needs no line here:
# gpu/cuda/X.cu is built where nvcc is found, gpu/cuda/X_stub.c stands in for it elsewhere, X_avx2.c
# gets its instruction set and is left out where the compiler is not for x86-64. A test program is
# tests/test_X.c (GLib) or tests/parity*.c and tests/golden*.c (no GLib, gpu/ and the core files
# only); all of them print TAP.
# Yours to set: CC CXX NVCC CFLAGS CUDA_ARCH ("sm_90 sm_120"; without it the machine's GPUs, or all
# where none answers; "all") CUDA=0 OPENCV=0 PREFIX DESTDIR V=1 FUZZ_SECONDS FAULTS.

VERSION = 0.1.0
RUN_PACKAGES = gcc g++ pkg-config libglib2.0-dev libpng-dev libturbojpeg0-dev libv4l-dev \
               libudev-dev libgstreamer1.0-dev \
               libgstreamer-plugins-base1.0-dev gstreamer1.0-plugins-good gstreamer1.0-libav \
               libglfw3-dev libepoxy-dev libimgui-dev libcglm-dev libgl1-mesa-dri \
               fonts-dejavu-core libyaml-dev libopencv-calib3d-dev
CHECK_PACKAGES = $(RUN_PACKAGES) xvfb xauth xdotool clang lld libclang-rt-dev \
                 clang-format clang-tidy cppcheck mandoc desktop-file-utils \
                 locales
PKGS = glib-2.0 libpng libturbojpeg libv4l2 libudev gstreamer-app-1.0 gstreamer-video-1.0 \
       gstreamer-pbutils-1.0 imgui glfw3 epoxy yaml-0.1
VM_PACKAGES = qemu-system-x86 busybox-static cpio kmod xz-utils v4l-utils
# All of them are one make's: as many jobs at a time as there are cores, compilers and test programs
# alike.
CHECKS = vm-test gui-test tsan asan unit parity goldens fuzz lint

BUILD ?= build
PREFIX ?= /usr/local
DATADIR = $(PREFIX)/share/livestereo
FUZZ_SECONDS ?= 60
CUDA ?= 1
OPENCV ?= 1
V ?= 0
export LIVESTEREO_DATA ?= ../shared/data
export COUNTS ?=

ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(origin CXX),default)
CXX := $(if $(filter clang,$(CC)),clang++,g++)
endif
CFLAGS ?= -O3 -g
CXXFLAGS ?= $(CFLAGS)
# A thread with 256 KB of stack can hold every frame; those of tests, of sanitizers and without
# optimisation may be larger.
OPTIMISED = $(filter-out -O0,$(filter -O%,$(CFLAGS)))
STACK = $(if $(SANITIZE)$(filter tests/%,$<),,$(if $(OPTIMISED),-Wframe-larger-than=100000))
WARN = -Wall -Wextra -Wshadow -Wpointer-arith -Wvla -Werror $(STACK)
CWARN = $(WARN) -Wstrict-prototypes -Wmissing-prototypes
# No fused multiply-add: the numbers must not depend on the compiler.
COMMON = -I. -MD -MP -ffp-contract=off -pthread $(SANITIZE)

# pkg-config is asked at the first use; on a bare machine that is after `make run` has installed it.
PKG_CFLAGS = $(eval PKG_CFLAGS := $$(shell pkg-config --cflags $(PKGS)))$(PKG_CFLAGS)
PKG_LIBS = $(eval PKG_LIBS := $$(shell pkg-config --libs $(PKGS)))$(PKG_LIBS)

NVCC ?= $(firstword $(shell command -v nvcc) $(wildcard /usr/local/cuda/bin/nvcc))
HAVE_CUDA := $(if $(filter-out 0,$(CUDA)),$(NVCC))
ifneq ($(HAVE_CUDA),)
KNOWN_ARCH := $(shell $(NVCC) --list-gpu-code | grep -x 'sm_[0-9]*' | sort -V)
ifndef CUDA_ARCH
# The machine's GPUs; one that is newer than nvcc compiles the newest code of all when it runs.
CUDA_ARCH := $(shell timeout 10 nvidia-smi --query-gpu=compute_cap --format=csv,noheader \
               2>/dev/null | sed -n 's/^\([0-9]*\)\.\([0-9]\)$$/sm_\1\2/p' | sort -uV)
CUDA_ARCH := $(if $(filter-out $(KNOWN_ARCH),$(CUDA_ARCH)),all,$(or $(CUDA_ARCH),all))
endif
ifeq ($(CUDA_ARCH),all)
# What is left out runs the code of its elder: 8.6 on 8.8 and 8.9, 10.0 on 10.3, 12.0 on 12.1.
override CUDA_ARCH := $(filter-out sm_88 sm_89 sm_103 sm_121,$(shell \
                        printf '%s\n' $(KNOWN_ARCH) | awk -F_ '$$2 >= 75'))
# `make check` compiles the CUDA backend and has no GPU to run it on: the oldest and the newest take
# a quarter of the time, and find what the others would; without optimisation it is half of that.
CHECK_ARCH := $(filter $(firstword $(CUDA_ARCH)) $(lastword $(CUDA_ARCH)),$(CUDA_ARCH))
CHECK_CUDA_QUICK = -Xcicc -O0 -Xptxas -O0
else
CHECK_ARCH := $(CUDA_ARCH)
endif
SMS = $(patsubst sm_%,%,$(CUDA_ARCH))
GENCODE = $(foreach a,$(SMS),-gencode arch=compute_$a,code=sm_$a) \
          $(foreach a,$(lastword $(SMS)),-gencode arch=compute_$a,code=compute_$a)
NVCCFLAGS = -std=c++17 -O3 -I. -MD -MP -t0 --Werror all-warnings \
            -Xcompiler -Wall,-ffp-contract=off $(CUDA_QUICK)
CUDA_LIBS = -L$(dir $(realpath $(NVCC)))../lib64 -lcudart_static -ldl -lrt -lpthread
endif

# Calibration from a chessboard; libopencv-calib3d-dev has no .pc file of its own.
HAVE_OPENCV := $(if $(filter-out 0,$(OPENCV)),$(firstword $(wildcard \
               $(addsuffix /include/opencv4/opencv2/calib3d.hpp,/usr/local /usr))))
ifneq ($(HAVE_OPENCV),)
OPENCV_CFLAGS = -isystem $(HAVE_OPENCV:/opencv2/calib3d.hpp=)
OPENCV_LIBS = -lopencv_calib3d -lopencv_imgproc -lopencv_core
endif

FOLDERS = app app/* config image capture gpu gpu/* calibration render
CU = $(if $(HAVE_CUDA),$(wildcard gpu/cuda/*.cu))
OTHER_SETS := $(if $(filter x86_64%,$(shell $(CC) -dumpmachine 2>/dev/null)),,gpu/%_avx2.c)
C = $(filter-out $(if $(HAVE_CUDA),gpu/%_stub.c) $(if $(HAVE_OPENCV),calibration/%_stub.c) \
    $(OTHER_SETS), $(wildcard $(FOLDERS:%=%/*.c)))
CC_FILES = $(filter-out $(if $(HAVE_OPENCV),,calibration/%),$(wildcard $(FOLDERS:%=%/*.cc)))
CORE = $(filter gpu/% app/bench/%,$(C)) $(CU) config/params.c config/log.c image/frame.c
obj = $(patsubst %,$(BUILD)/%.o,$(1))
# A program with a sanitizer is linked by lld, where it is installed: a seventh of the time.
LLD := $(if $(SANITIZE),$(if $(shell command -v ld.lld),-fuse-ld=lld))
LINK = $(if $(CU)$(CC_FILES),$(CXX),$(CC)) -pthread $(SANITIZE) $(LLD) $(LDFLAGS)
LIBS = $(PKG_LIBS) $(OPENCV_LIBS) $(CUDA_LIBS) -lm

PARITY = $(patsubst tests/%.c,$(BUILD)/%,$(wildcard tests/parity*.c))
GOLDEN = $(patsubst tests/%.c,$(BUILD)/%,$(wildcard tests/golden*.c))
GUI = $(patsubst tests/gui/%.c,$(BUILD)/%,$(wildcard tests/gui/test_*.c))
UNIT = $(patsubst tests/%.c,$(BUILD)/%,$(filter-out $(if $(OTHER_SETS),tests/test_faults.c), \
       $(wildcard tests/test_*.c)))
FUZZ = $(patsubst tests/%.c,$(BUILD)/%,$(wildcard tests/fuzz_*.c))

Q = $(if $(filter 0,$(V)),@)
say = $(if $(filter 0,$(V)),@printf '  %-5s %s\n' $(1) '$(2)')
SUB = +$(Q)$(MAKE) --no-print-directory

.PHONY: all found run check deps deps-check bench install uninstall clean help
.PHONY: bench-sgbm
.PHONY: unit gui-test parity golden goldens asan tsan fuzz fuzz-run vm-test vm-ready lint gpu-test
.PHONY: faults soak tsan-gui FORCE
.DELETE_ON_ERROR:
.SECONDARY:

all: found $(BUILD)/livestereo

found:
	@echo "backends: cpu, $(if $(CU),cuda by $(HAVE_CUDA) for $(strip $(CUDA_ARCH)),$(NO_CUDA))"
	@echo "chessboard calibration: $(if $(HAVE_OPENCV),by $(HAVE_OPENCV),$(NO_OPENCV))"
NO_OPENCV = none ($(if $(filter 0,$(OPENCV)),OPENCV=0,no libopencv-calib3d-dev found))
NO_CUDA = no cuda ($(if $(filter 0,$(CUDA)),CUDA=0,no nvcc found))

$(BUILD)/livestereo: $(call obj,app/main.c) $(BUILD)/all.a
	$(call say,LINK,$@)
	$(Q)$(LINK) -o $@ $^ $(LIBS)

# Each is rewritten when its text changes, and what was made with the old one waits for it.
c_text = $(CC) $(CXX) $(CFLAGS) $(CXXFLAGS) $(CWARN) $(COMMON)
cu_text = $(NVCC) $(CXX) $(NVCCFLAGS) $(GENCODE)
link_text = $(LINK) $(PKGS) $(CUDA_LIBS) $(C) $(CC_FILES) $(CU)
where_text = $(DATADIR) $(VERSION)
STAMPS = $(patsubst %,$(BUILD)/%.stamp,c cu link where)
$(STAMPS): $(BUILD)/%.stamp: FORCE
	@mkdir -p $(@D)
	@echo '$($*_text)' >$@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@
$(call obj,app/main.c config/params_file.c): $(BUILD)/where.stamp

$(BUILD)/all.a: $(call obj,$(filter-out app/main.c,$(C)) $(CC_FILES) $(CU)) $(BUILD)/shaders.c.o
$(BUILD)/core.a: $(call obj,$(CORE))
$(BUILD)/%.a: $(BUILD)/link.stamp
	$(call say,AR,$@)
	@rm -f $@
	$(Q)$(AR) rcs $@ $(filter %.o,$^)

# The GLSL files as strings: shaders/image.frag is shader_image_frag.
$(BUILD)/shaders.c: $(wildcard shaders/*) $(BUILD)/link.stamp
	$(call say,GLSL,$(filter shaders/%,$^))
	$(Q)for f in $(filter shaders/%,$^); do n=shader_$$(basename $$f | tr . _) && \
	    echo "extern const char $$n[];" && echo "const char $$n[] =" && \
	    sed 's/[\\"]/\\&/g; s/.*/"&\\n"/' $$f && echo ';' || exit 1; done >$@
$(BUILD)/shaders.c.o: $(BUILD)/shaders.c
	$(Q)$(CC) -std=c11 $(SANITIZE) $(CFLAGS) $(CWARN) -c -o $@ $<

IN_CORE = $(filter gpu/% app/bench/% tests/parity% tests/golden% tests/bench% tests/shuffled% \
          config/params.c config/log.c image/frame.c,$<)
$(BUILD)/%_avx2.c.o: SIMD = -mavx2
# Without checks of each pointer's use, most of which AddressSanitizer repeats, compiling them takes
# a sixth of the time.
NO_POINTER_CHECKS = $(patsubst %,-fno-sanitize=%,null alignment object-size pointer-overflow)
$(BUILD)/%_avx2.c.o: SIMD += $(if $(findstring undefined,$(SANITIZE)),$(NO_POINTER_CHECKS))
$(BUILD)/%.c.o: %.c $(BUILD)/c.stamp
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE -DLIVESTEREO_VERSION='"$(VERSION)"' \
	    -DLIVESTEREO_DATADIR='"$(DATADIR)"' $(COMMON) $(CWARN) $(if $(IN_CORE),,$(PKG_CFLAGS)) \
	    $(SIMD) $(CFLAGS) -c -o $@ $<
CXX_LEAN = -fno-exceptions -fno-rtti
$(BUILD)/calibration/%.cc.o $(BUILD)/tests/%.cc.o: private CXX_LEAN = # OpenCV throws
$(BUILD)/%.cc.o: %.cc $(BUILD)/c.stamp
	$(call say,CXX,$<)
	@mkdir -p $(@D)
	$(Q)$(CXX) -std=c++17 $(CXX_LEAN) $(COMMON) $(WARN) $(PKG_CFLAGS) \
	    $(OPENCV_CFLAGS) $(CXXFLAGS) -c -o $@ $<
$(BUILD)/%.cu.o: %.cu $(BUILD)/cu.stamp
	$(call say,NVCC,$<)
	@mkdir -p $(@D)
	$(Q)$(NVCC) $(NVCCFLAGS) -ccbin $(CXX) $(GENCODE) -MF $(@:.o=.d) -c -o $@ $<

OBJECTS_FIRST = $(filter %.o,$^) $(filter %.a,$^)
# Fuzzers read input; what computes and draws is not compiled for them.
NO_INPUT = gpu/% render/% app/main.c app/cmd_% app/eval_% app/bench/% app/live/% app/view/%
$(BUILD)/input.a: $(call obj,$(filter-out $(NO_INPUT),$(C)) app/view/session.c app/view/settings.c)
$(FUZZ): $(BUILD)/input.a
$(UNIT): $(BUILD)/all.a
$(UNIT) $(FUZZ): $(BUILD)/%: $(BUILD)/tests/%.c.o
	$(call say,LINK,$@)
	$(Q)$(LINK) -o $@ $(OBJECTS_FIRST) $(LIBS)
ifneq ($(HAVE_OPENCV),)
$(BUILD)/test_calibration_opencv: $(BUILD)/tests/opencv_oracle.cc.o
else
UNIT := $(filter-out %/test_calibration_opencv,$(UNIT))
endif
$(FUZZ): private override LDFLAGS += -fsanitize=fuzzer
$(BUILD)/test_alloc: private override LDFLAGS += \
    -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=posix_memalign \
    -Wl,--wrap=pthread_create,--wrap=log_at
$(BUILD)/test_lost_gpu: private override LDFLAGS += \
    -Wl,--wrap=backend_cuda_open,--wrap=backend_cpu_open
$(BUILD)/test_graph $(BUILD)/test_waits: private override LDFLAGS += \
    -Wl,--wrap=graph_buffer,--wrap=graph_persistent,--wrap=graph_import,--wrap=graph_clear
$(GUI): $(BUILD)/%: $(BUILD)/tests/gui/%.c.o $(BUILD)/tests/gui/gui.c.o $(BUILD)/all.a
	$(call say,LINK,$@)
	$(Q)$(LINK) -o $@ $^ $(LIBS) -lX11
$(BUILD)/lost_context.so: tests/gui/lost_context.c $(BUILD)/c.stamp
	$(Q)$(CC) -std=c11 $(CWARN) -shared -fPIC -o $@ $<
$(BUILD)/preload_faults.so: tests/preload_faults.c $(BUILD)/c.stamp
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE -O1 $(CWARN) -shared -fPIC -o $@ $<
$(BUILD)/test_faults: | $(BUILD)/preload_faults.so
$(PARITY) $(patsubst %,$(BUILD)/test_%,lost_gpu reach waits): $(BUILD)/tests/shuffled_backend.c.o
$(PARITY) $(GOLDEN) $(BUILD)/bench_gpu: $(BUILD)/%: $(BUILD)/tests/%.c.o $(BUILD)/core.a
	$(call say,LINK,$@)
	$(Q)$(LINK) -o $@ $(OBJECTS_FIRST) $(CUDA_LIBS) -lm

# ---- what people run

run: deps
	$(SUB) $(if $(findstring -j,$(MAKEFLAGS)),,-j$$(nproc)) all
	@if [ -n "$$DISPLAY" ]; then $(BUILD)/livestereo; \
	else $(BUILD)/livestereo run synth: --frames 100 --save-picture $(BUILD)/run.png; fi

# What has to report; what does not has not been built.
REPORTS = $(patsubst %,$(BUILD):%,vm-test gui unit parity) \
          $(foreach b,tsan asan,$(BUILD)/$b:unit $(BUILD)/$b:parity) \
          $(GOLDENS:%=$(BUILD)/%:golden) $(patsubst $(BUILD)/fuzz_%,fuzz:%,$(FUZZ)) $(LINT:%=lint:%)
check: deps-check
	$(Q)CUDA_ARCH="$(CHECK_ARCH)" CUDA_QUICK="$(CHECK_CUDA_QUICK)" \
	    CHECK_MAKE="$(MAKE) --no-print-directory --output-sync=target \
	    $(if $(findstring -j,$(MAKEFLAGS)),,-j$$(nproc))" \
	    tests/check.sh $(BUILD) '$(CHECKS)' $(REPORTS)

deps:
	@tests/packages.sh $(RUN_PACKAGES)
deps-check:
	@tests/packages.sh $(CHECK_PACKAGES) $(VM_PACKAGES)

bench: all
	$(BUILD)/livestereo bench

# Desktop file, metainfo, icon, shell completions: installed at the paths they have here.
SHARED = $(shell find share -type f)
install: all
	install -D -m 755 $(BUILD)/livestereo $(DESTDIR)$(PREFIX)/bin/livestereo
	install -d $(DESTDIR)$(DATADIR)/presets $(DESTDIR)$(PREFIX)/share/doc/livestereo
	install -m 644 $(wildcard config/presets/*.ini) $(DESTDIR)$(DATADIR)/presets
	install -D -m 644 docs/livestereo.1 $(DESTDIR)$(PREFIX)/share/man/man1/livestereo.1
	install -m 644 README.md LICENSE $(wildcard LICENSES/*) $(wildcard docs/*.md) \
	    $(DESTDIR)$(PREFIX)/share/doc/livestereo
	for f in $(SHARED); do install -D -m 644 $$f $(DESTDIR)$(PREFIX)/$$f || exit 1; done
uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/livestereo $(DESTDIR)$(PREFIX)/share/man/man1/livestereo.1
	rm -rf $(DESTDIR)$(DATADIR) $(DESTDIR)$(PREFIX)/share/doc/livestereo
	rm -f $(SHARED:%=$(DESTDIR)$(PREFIX)/%)

clean:
	rm -rf $(BUILD)

help:
	@echo "all run check bench install uninstall clean deps"
	@echo "parts of check, each alone: $(CHECKS);  with a GPU: gpu-test;  long: faults soak"
	@echo "the window under ThreadSanitizer: tsan-gui"

# ---- the parts of `make check`

# X.ran runs the test program X and keeps what became of it; a part's own line sums that up.
RUN_TEST = $(Q)LIVESTEREO_BIN=$(BUILD)/livestereo tests/run.sh --program $(@:.ran=)
%.ran: % FORCE
	$(RUN_TEST)
$(UNIT:%=%.ran): $(BUILD)/livestereo $(BUILD)/locale/de_DE.UTF-8
# A language whose numbers have a comma, which the machine may not have.
$(UNIT:%=%.ran): private export LOCPATH = $(abspath $(BUILD))/locale:/usr/lib/locale
$(BUILD)/locale/de_DE.UTF-8:
	$(call say,LOCAL,$@)
	@mkdir -p $(@D)
	$(Q)localedef -f UTF-8 -i de_DE $@
# Programs of one thread, of which ThreadSanitizer has nothing to say, run without it alone.
ONE_THREAD = blocks calibration calibration_fold calibration_opencv graph mrf_energy oracle \
             oracle_pipeline oracle_refine oracle_surface reach rig row_error waits
UNIT_RUN = $(filter-out $(if $(findstring =thread,$(SANITIZE)),\
           $(ONE_THREAD:%=$(BUILD)/test_%)),$(UNIT))
unit: $(UNIT_RUN:%=%.ran)
	$(Q)tests/run.sh --sum $(BUILD):unit $(UNIT_RUN)
# A real window on a display of its own; programs that need one skip themselves where there is none.
$(GUI:%=%.ran): private export RUNNER = tests/gui/display.sh
$(GUI:%=%.ran): $(BUILD)/livestereo $(BUILD)/lost_context.so
gui-test: $(GUI:%=%.ran)
	$(Q)tests/run.sh --sum $(BUILD):gui $(GUI)
$(PARITY:%=%.ran): private export TEST_ARGS = $(PARITY_ARGS)
parity: $(PARITY:%=%.ran)
	$(Q)tests/run.sh --sum $(BUILD):parity $(PARITY)
golden: $(GOLDEN:%=%.ran)
	$(Q)tests/run.sh --sum $(BUILD):golden $(GOLDEN)

GOLDENS = gcc-O0 gcc-O3 clang-O0 clang-O3
goldens: $(GOLDENS:%=golden-%)
golden-gcc-%:
	$(SUB) BUILD=$(BUILD)/gcc-$* CC=gcc CFLAGS=-$* CUDA=0 golden
golden-clang-%:
	$(SUB) BUILD=$(BUILD)/clang-$* CC=clang CXX=clang++ CFLAGS=-$* CUDA=0 golden

ASAN = address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
asan:
	$(SUB) BUILD=$(BUILD)/asan CC=clang CXX=clang++ CFLAGS='-O2 -g1' CUDA=0 \
	    SANITIZE='-fsanitize=$(ASAN)' PARITY_ARGS=--small unit parity
# Clang's ThreadSanitizer takes a quarter of the time of gcc 12's. Without address randomisation,
# which it may not start under.
tsan:
	$(SUB) BUILD=$(BUILD)/tsan CC=clang CXX=clang++ CFLAGS='-O2 -g1' CUDA=0 \
	    SANITIZE=-fsanitize=thread PARITY_ARGS=--small \
	    RUNNER="$$(setarch -R true 2>/dev/null && echo setarch -R)" unit parity
export RUNNER
# The window under ThreadSanitizer; not in check. What libraries do is left out, each by its name,
# as is a test of large pictures on one thread.
tsan-gui:
	+$(Q)TSAN_OPTIONS=halt_on_error=1:suppressions=$(abspath tests/gui/tsan.supp) \
	    $(MAKE) --no-print-directory BUILD=$(BUILD)/tsan CC=clang CXX=clang++ \
	    CFLAGS='-O2 -g1' CUDA=0 SANITIZE=-fsanitize=thread \
	    RUNNER="tests/gui/display.sh $$(setarch -R true 2>/dev/null && echo setarch -R)" \
	    TEST_ARGS='-s /gui/quality' gui-test

# Every fault of each kind, instead of the few that a check draws. Where a command allocates more
# than 1000 times, three allocations of each call site; FAULTS=0 tries all, for more than a day.
FAULTS ?= sites
faults: $(BUILD)/livestereo $(BUILD)/test_faults
	$(Q)LIVESTEREO_FAULTS=$(FAULTS) LIVESTEREO_TEST_SECONDS=86400 LIVESTEREO_BIN=$(BUILD)/livestereo \
	    tests/run.sh $(BUILD):faults $(BUILD)/test_faults

soak: $(BUILD)/livestereo
	tests/soak.sh $(BUILD)/livestereo $(SOAK_FRAMES)

fuzz:
	$(SUB) BUILD=$(BUILD)/fuzz CC=clang CXX=clang++ CFLAGS='-O1 -g1' CUDA=0 \
	    SANITIZE='-fsanitize=fuzzer-no-link,$(ASAN)' fuzz-run
fuzz-run: $(FUZZ:%=%.fuzzed)
%.fuzzed: % FORCE
	$(Q)FUZZ_SECONDS=$(FUZZ_SECONDS) tests/fuzz.sh $(BUILD) $<

# Live cameras, against the kernel's own drivers in a small virtual machine.
VM_TESTS = vivid uvc
VM_PROGRAMS = $(BUILD)/livestereo $(BUILD)/vm_pairs $(BUILD)/vm_usb_camera $(BUILD)/vm_make_clip
$(BUILD)/vm_%: $(BUILD)/tests/vm/vm_%.c.o $(BUILD)/all.a
	$(call say,LINK,$@)
	$(Q)$(LINK) -o $@ $^ $(LIBS)
VM = $(patsubst %,$(BUILD)/vm_test_%,$(VM_TESTS) replay)
vm-ready: $(VM_PROGRAMS)
	$(Q)tests/vm/prepare.sh $(BUILD) $(VM_TESTS)
$(VM): vm-ready ;
$(BUILD)/vm_test_replay.ran: $(BUILD)/vm_test_uvc.ran # of what was recorded there
vm-test: $(VM:%=%.ran)
	$(Q)tests/run.sh --sum $(BUILD):vm-test $(VM)

LINT = tidy cppcheck format style headers layers man desktop
lint: $(LINT:%=lint-%)
$(LINT:%=lint-%): lint-%:
	$(Q)CFLAGS="$(PKG_CFLAGS)" tests/run.sh --step lint:$* tests/lint.sh $*

# On a machine with a GPU; needs nvcc, gcc and make only.
BENCH_GPU = $(BUILD)/bench_gpu
gpu-test: $(if $(CU),,need-cuda) $(PARITY) $(GOLDEN) $(BENCH_GPU)
	$(Q)LIVESTEREO_NEED_CUDA=1 tests/run.sh $(BUILD):gpu-test $(PARITY) $(GOLDEN)
	$(Q)tests/run.sh --step gpu-sanitizers tests/gpu_sanitize.sh $(BUILD)
	$(BENCH_GPU)
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
need-cuda:
	@echo "gpu-test: needs nvcc (on the PATH or under /usr/local/cuda) and gpu/cuda/*.cu" >&2; exit 1

-include $(shell find $(BUILD) -maxdepth 3 -name '*.d' 2>/dev/null)
