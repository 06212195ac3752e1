# livestereo: `make run` and `make check` are all the set-up there is; `make help` lists the rest.
# SPDX-License-Identifier: MIT
#
# Everything is made under $(BUILD). Sources are found by folder, so a new file needs no line here:
# gpu/cuda/X.cu is built where nvcc is found, gpu/cuda/X_stub.c stands in for it elsewhere, X_avx2.c
# is compiled for AVX2, X_simd.c for AVX2 and once more for AVX-512, and elsewhere than on x86-64
# both are what SIMDe makes of them. A test program is
# tests/test_X.c (GLib) or tests/parity*.c and tests/golden*.c (no GLib, gpu/ and the core files
# only); all of them print TAP.
# Yours to set: CC CXX NVCC CFLAGS CXXFLAGS CPPFLAGS LDFLAGS CUDA_ARCH ("sm_90 sm_120"; "all";
# without it the machine's GPUs, and no CUDA backend where none answers) CUDA=0 OPENCV=0
# PYTHON WERROR=-Werror PREFIX LIBDIR INCLUDEDIR DESTDIR V=1 FUZZ_SECONDS FAULTS.

VERSION = 0.1.0
RUN_PACKAGES = gcc g++ pkg-config libglib2.0-dev libpng-dev libturbojpeg0-dev libv4l-dev \
               libudev-dev libgstreamer1.0-dev \
               libgstreamer-plugins-base1.0-dev gstreamer1.0-plugins-good gstreamer1.0-libav \
               libglfw3-dev libepoxy-dev libx11-dev libimgui-dev libcglm-dev libgl1-mesa-dri \
               fonts-dejavu-core libyaml-dev libzstd-dev liblz4-dev zlib1g-dev libbz2-dev \
               libexif-dev libavformat-dev libopencv-calib3d-dev libwebsockets-dev \
               libjson-glib-dev \
               fonts-roboto-unhinted fonts-material-design-icons-iconfont \
               $(if $(X86),,libsimde-dev)
CHECK_PACKAGES = $(RUN_PACKAGES) xvfb xauth xdotool clang-format clang-tidy cppcheck mandoc \
                 desktop-file-utils appstream locales gstreamer1.0-tools python3-numpy \
                 python3-pil python3-websockets
ALL_PACKAGES = $(CHECK_PACKAGES) clang lld libclang-rt-dev abigail-tools binutils \
               python3-pytest python3-setuptools python3-venv python3-wheel python3-selenium \
               mypy cmake meson ninja-build \
               chromium-driver gcc-aarch64-linux-gnu g++-aarch64-linux-gnu qemu-user-static \
               libsimde-dev
PKGS = glib-2.0 libpng libturbojpeg libv4l2 libudev gstreamer-app-1.0 gstreamer-video-1.0 \
       gstreamer-pbutils-1.0 imgui glfw3 epoxy x11 yaml-0.1 libzstd liblz4 zlib libexif \
       libavformat libavutil libwebsockets json-glib-1.0
DEB_PACKAGES = dpkg-dev debhelper dh-python lintian fakeroot gstreamer1.0-plugins-base
VM_PACKAGES = qemu-system-x86 busybox-static cpio kmod xz-utils v4l-utils
# All of them are one make's: as many jobs at a time as there are cores, and one more since some
# tests wait, compilers and test programs alike.
CHECKS = unit gui-few parity golden lint
# What `make check` leaves to `make check-all`: other builds of the same, and what takes long.
LONG_CHECKS = vm-test gui-test tsan-all asan-fuzz unit-long goldens arm package odd-folder

BUILD ?= build
$(if $(word 2,$(BUILD)),$(error BUILD: a folder without blanks in its name))
# Two makes at once would write the same files: the second one waits until the first has ended,
# which tail sees, to which the lock is handed. Those that run the program for long do not lock.
ifeq ($(MAKELEVEL)$(filter run soak bench help,$(MAKECMDGOALS)),0)
$(shell mkdir -p $(BUILD) && exec 9>$(BUILD)/lock && { flock -w 1 9 || { \
    echo "waiting for another make in $(BUILD)" >&2; flock 9; }; } && \
    { tail -s 0.05 --pid=$$PPID -f /dev/null >/dev/null 2>&1 & })
endif
OBJCOPY ?= objcopy
NM ?= nm
PKG_CONFIG ?= pkg-config
PYTHON ?= /usr/bin/python3
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
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
# Warnings are errors in tests alone: another compiler may have new ones.
export WERROR ?= $(if $(filter check check-all asan fuzz $(CHECKS) $(LONG_CHECKS) lint-% \
                      gpu-test,$(MAKECMDGOALS)),-Werror)
WARN = -Wall -Wextra -Wshadow -Wpointer-arith -Wvla $(WERROR) $(STACK)
CWARN = $(WARN) -Wstrict-prototypes -Wmissing-prototypes
# No fused multiply-add: the numbers must not depend on the compiler.
COMMON = -I. -MD -MP -ffp-contract=off -pthread $(SANITIZE)
# What runs over the end of its memory on the stack ends the program, and so do calls of the C
# library that know how large their memory is; with -z now addresses of functions are read-only.
# Sanitizers see more. `make package-hardened` looks for all three in what was built.
HARDENED = $(if $(SANITIZE)$(filter tests/%,$<),,-fstack-protector-strong $(if $(findstring \
           FORTIFY_SOURCE,$(CPPFLAGS) $(CFLAGS)),,$(if $(OPTIMISED),-D_FORTIFY_SOURCE=2)))
READ_ONLY = -Wl,-z,relro,-z,now

# pkg-config is asked at the first use; on a bare machine that is after `make run` has installed it.
PKG_CFLAGS = $(eval PKG_CFLAGS := $$(shell $(PKG_CONFIG) --cflags $(PKGS)))$(PKG_CFLAGS)
YAML_CFLAGS = $(eval YAML_CFLAGS := $$(shell $(PKG_CONFIG) --cflags yaml-0.1))$(YAML_CFLAGS)
YAML_LIBS = $(eval YAML_LIBS := $$(shell $(PKG_CONFIG) --libs yaml-0.1))$(YAML_LIBS)
PKG_LIBS = $(eval PKG_LIBS := $$(shell $(PKG_CONFIG) --libs $(PKGS)))$(PKG_LIBS)

NVCC ?= $(firstword $(shell command -v nvcc) $(wildcard /usr/local/cuda/bin/nvcc))
HAVE_CUDA := $(if $(filter-out 0,$(CUDA)),$(NVCC))
ifneq ($(HAVE_CUDA),)
KNOWN_ARCH := $(shell $(NVCC) --list-gpu-code | grep -x 'sm_[0-9]*' | sort -V)
# What is left out runs the code of its elder: 8.6 on 8.8 and 8.9, 10.0 on 10.3, 12.0 on 12.1.
ALL_ARCH := $(filter-out sm_88 sm_89 sm_103 sm_121,$(shell \
              printf '%s\n' $(KNOWN_ARCH) | awk -F_ '$$2 >= 75'))
ifndef CUDA_ARCH
# The machine's GPUs; one that is newer than nvcc compiles the newest code of all when it runs.
CUDA_ARCH := $(shell timeout 10 nvidia-smi --query-gpu=compute_cap --format=csv,noheader \
               2>/dev/null | sed -n 's/^\([0-9]*\)\.\([0-9]\)$$/sm_\1\2/p' | sort -uV)
CUDA_ARCH := $(if $(filter-out $(KNOWN_ARCH),$(CUDA_ARCH))$(filter gpu-test,$(if $(CUDA_ARCH),,\
               $(MAKECMDGOALS))),all,$(CUDA_ARCH))
endif
# A check compiles the CUDA backend even where there is no GPU to run it on. Of all GPUs the
# oldest and the newest take a quarter of the time, and find what the others would, but for
# sm_90a's own instructions (feature.cu); without optimisation it is half of that.
ifneq ($(filter-out all,$(CUDA_ARCH)),)
CHECK_ARCH := $(CUDA_ARCH)
else
CHECK_ARCH := $(filter $(firstword $(ALL_ARCH)) $(lastword $(ALL_ARCH)),$(ALL_ARCH))
CHECK_CUDA_QUICK = -Xcicc -O0 -Xptxas -O0
endif
ifeq ($(CUDA_ARCH),all)
override CUDA_ARCH := $(ALL_ARCH)
endif
UNKNOWN_ARCH := $(filter-out $(foreach a,$(KNOWN_ARCH),$a $aa $af),$(CUDA_ARCH))
$(if $(UNKNOWN_ARCH),$(error CUDA_ARCH: $(NVCC) has no $(UNKNOWN_ARCH), only $(KNOWN_ARCH)))
HAVE_CUDA := $(if $(CUDA_ARCH),$(HAVE_CUDA))
endif
ifneq ($(HAVE_CUDA),)
SMS = $(patsubst sm_%,%,$(CUDA_ARCH))
SASS = $(SMS)
GENCODE = $(foreach a,$(SASS),-gencode arch=compute_$a,code=sm_$a) \
          $(foreach a,$(lastword $(SMS)),-gencode arch=compute_$a,code=compute_$a)
NVCCFLAGS = -std=c++17 -O3 -I. -MD -MP -t0 $(if $(WERROR),--Werror all-warnings) \
            -Xcompiler -Wall,-ffp-contract=off $(PIC:%=-Xcompiler %) $(CPPFLAGS:%=-Xcompiler %) \
            $(CUDA_QUICK)
CUDA_LIBS = -L$(dir $(realpath $(NVCC)))../lib64 -lcudart_static -ldl -lrt -lpthread
endif

# Calibration from a chessboard; libopencv-calib3d-dev has no .pc file of its own.
HAVE_OPENCV := $(if $(filter-out 0,$(OPENCV)),$(firstword $(wildcard \
               $(addsuffix /include/opencv4/opencv2/calib3d.hpp,/usr/local /usr))))
ifneq ($(HAVE_OPENCV),)
OPENCV_CFLAGS = -isystem $(HAVE_OPENCV:/opencv2/calib3d.hpp=)
OPENCV_LIBS = -lopencv_calib3d -lopencv_features2d -lopencv_imgproc -lopencv_core
endif

FOLDERS = app app/* config image capture capture/* gpu gpu/* calibration render library
CU = $(if $(HAVE_CUDA),$(wildcard gpu/cuda/*.cu))
MACHINE := $(shell $(CC) -dumpmachine 2>/dev/null)
X86 := $(filter x86_64%,$(MACHINE))
C = $(filter-out $(if $(HAVE_CUDA),gpu/%_stub.c) $(if $(HAVE_OPENCV),calibration/%_stub.c), \
    $(wildcard $(FOLDERS:%=%/*.c)))
CC_FILES = $(filter-out $(if $(HAVE_OPENCV),,calibration/%),$(wildcard $(FOLDERS:%=%/*.cc)))
CORE = $(filter gpu/%,$(C)) $(CU) app/bench/bench.c image/frame.c \
       $(patsubst %,config/%.c,feature_network log number params presets)
# What liblivestereo consists of, besides what is generated.
LIBRARY = $(filter library/% gpu/%,$(C)) $(CU) \
          $(patsubst %,config/%.c,feature_network file log number params presets) \
          $(patsubst %,calibration/%.c,camera depth rectify rig rig_read rig_read_text \
                                       rig_read_yaml yaml_tree)
obj = $(patsubst %,$(BUILD)/%.o,$(1)) \
      $(if $(X86),$(patsubst %,$(BUILD)/%.avx512.o,$(filter %_simd.c,$(1))))
GENERATED = $(BUILD)/presets.c.o $(BUILD)/weights.c.o
# The program is linked with the same objects.
LIBRARY_OBJECTS = $(call obj,$(LIBRARY)) $(GENERATED)
PIC = -fPIC -fvisibility=hidden
IN_LIBRARY = $(if $(filter $@,$(LIBRARY_OBJECTS) $(PLUGIN_OBJECTS)),$(PIC))
SO = liblivestereo.so.0
WHEEL = $(BUILD)/wheel
WHEEL_SO = $(WHEEL)/livestereo/$(SO)
LIBRARIES = $(patsubst %,$(BUILD)/%,$(SO) liblivestereo.so liblivestereo.a)
# The GStreamer plugin, which uses the library as others do, and the program's colours.
PLUGIN = $(BUILD)/gst/libgstlivestereo.so
PLUGIN_OBJECTS = $(call obj,$(wildcard gst/*.c) image/colormap.c)
# A program with a sanitizer is linked by lld, where it is installed: a seventh of the time.
LLD := $(if $(SANITIZE),$(if $(shell command -v ld.lld),-fuse-ld=lld))
LINK = $(if $(CU)$(CC_FILES),$(CXX),$(CC)) -pthread $(SANITIZE) $(COVERAGE) $(LLD) $(READ_ONLY) \
       $(LDFLAGS)
LIBS = $(STATIC_LIBS) $(PKG_LIBS) $(OPENCV_LIBS) $(CUDA_LIBS) -lbz2 -lm

PARITY = $(patsubst tests/%.c,$(BUILD)/%,$(wildcard tests/parity*.c))
GOLDEN = $(patsubst tests/%.c,$(BUILD)/%,$(wildcard tests/golden*.c))
GUI = $(patsubst tests/gui/%.c,$(BUILD)/%,$(wildcard tests/gui/test_*.c))
UNIT = $(patsubst tests/%.c,$(BUILD)/%,$(filter-out $(if $(X86),,tests/test_faults.c), \
       $(wildcard tests/test_*.c)))
FUZZ = $(patsubst tests/%.c,$(BUILD)/%,$(wildcard tests/fuzz_*.c))

Q = $(if $(filter 0,$(V)),@)
say = $(if $(filter 0,$(V)),@printf '  %-5s %s\n' $(1) '$(2)')
SUB = +$(Q)$(MAKE) --no-print-directory

.PHONY: all found lib run check check-all deps deps-check deps-check-all bench
.PHONY: install install-lib uninstall clean help
.PHONY: accuracy bench-sgbm papers sgbm-figures
.PHONY: unit unit-long gui-test gui-few parity golden goldens
.PHONY: arm asan tsan tsan-all fuzz asan-fuzz fuzz-run
.PHONY: vm-test vm-ready vm-window vm-window-ready
.PHONY: lint
.PHONY: gpu-test arm-instructions dist deb deb-check
.PHONY: package package-ready odd-folder wheel abi verify-hashes faults soak tsan-gui FORCE
.DELETE_ON_ERROR:
.SECONDARY:

all: found $(BUILD)/livestereo lib $(PLUGIN) $(BUILD)/livestereo.1
lib: $(LIBRARIES)

found:
	@echo "backends: cpu, $(if $(CU),cuda by $(HAVE_CUDA) for $(strip $(CUDA_ARCH)),$(NO_CUDA))"
	@echo "chessboard calibration: $(if $(HAVE_OPENCV),by $(HAVE_OPENCV),$(NO_OPENCV))"
NO_OPENCV = none ($(if $(filter 0,$(OPENCV)),OPENCV=0,no libopencv-calib3d-dev found))
NO_CUDA = no cuda ($(if $(filter 0,$(CUDA)),CUDA=0,$(if $(NVCC),no GPU answers nvidia-smi; \
          CUDA_ARCH=all builds it for all,no nvcc found)))

$(BUILD)/livestereo: $(call obj,app/main.c) $(BUILD)/all.a
	$(call say,LINK,$@)
	$(Q)$(LINK) -o $@ $^ $(LIBS)

# Each is rewritten when its text changes, and what was made with the old one waits for it.
c_text = $(VERSION) $(CC) $(CXX) $(CPPFLAGS) $(CFLAGS) $(CXXFLAGS) $(CWARN) $(COMMON) $(PIC)
cu_text = $(NVCC) $(CXX) $(NVCCFLAGS) $(GENCODE)
link_text = $(LINK) $(PKGS) $(CUDA_LIBS) $(C) $(CC_FILES) $(CU)
STAMPS = $(patsubst %,$(BUILD)/%.stamp,c cu link)
$(STAMPS): $(BUILD)/%.stamp: FORCE
	@mkdir -p $(@D)
	@echo '$($*_text)' >$@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@

# The functions of sanitizers are in the programs, and unknown to the library alone.
$(BUILD)/$(SO): $(LIBRARY_OBJECTS) library/exports.map $(BUILD)/link.stamp
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(if $(CU),$(CXX) -static-libstdc++ -static-libgcc,$(CC)) -shared -pthread \
	    -Wl,-soname,$(SO),--version-script=library/exports.map $(if $(SANITIZE),,-Wl,-z,defs) \
	    $(SANITIZE) $(READ_ONLY) $(LDFLAGS) -o $@ $(filter %.o,$^) $(YAML_LIBS) $(CUDA_LIBS) -lm
$(BUILD)/liblivestereo.so: $(BUILD)/$(SO)
	$(Q)ln -sf $(SO) $@
# It finds the library in the folder above its own, built and installed.
PLUGIN_RPATH ?= -Wl,-rpath,'$$ORIGIN/..'
PLUGIN_LIBS = $(shell $(PKG_CONFIG) --libs gstreamer-video-1.0 gstreamer-base-1.0)
$(PLUGIN): $(PLUGIN_OBJECTS) $(BUILD)/liblivestereo.so $(BUILD)/link.stamp
	$(call say,LINK,$@)
	$(Q)$(CC) -shared -pthread $(PLUGIN_RPATH) $(if $(SANITIZE),,-Wl,-z,defs) $(SANITIZE) \
	    $(READ_ONLY) $(LDFLAGS) -o $@ $(filter %.o,$^) -L$(BUILD) -llivestereo $(PLUGIN_LIBS)
# One object, of which other files see what livestereo.h declares.
$(BUILD)/liblivestereo.a: $(LIBRARY_OBJECTS) $(BUILD)/link.stamp
	$(call say,AR,$@)
	$(Q)rm -f $@
	$(Q)$(CC) -r -nostdlib -o $(@:.a=.o) $(filter %.o,$^)
	$(Q)$(OBJCOPY) --localize-hidden $(@:.a=.o)
	$(Q)$(AR) rcs $@ $(@:.a=.o)
	@rm $(@:.a=.o)

$(BUILD)/all.a: $(call obj,$(filter-out app/main.c,$(C)) $(CC_FILES) $(CU)) \
                $(BUILD)/texts.c.o $(BUILD)/icon.c.o $(GENERATED)
$(BUILD)/core.a: $(call obj,$(CORE)) $(GENERATED)
$(BUILD)/%.a: $(BUILD)/link.stamp
	$(call say,AR,$@)
	@rm -f $@
	$(Q)$(AR) rcs $@ $(filter %.o,$^)

# Files of text as strings: shaders/image.frag is shader_image_frag, app/live/page/page.js is
# page_page_js.
$(BUILD)/texts.c: $(wildcard shaders/* app/live/page/*) $(BUILD)/link.stamp
	$(call say,TEXT,$(filter-out %.stamp,$^))
	$(Q)for f in $(filter-out %.stamp,$^); do \
	    n=$$(basename $$(dirname $$f) | sed 's/s$$//')_$$(basename $$f | tr . _) && \
	    echo "extern const char $$n[];" && echo "const char $$n[] =" && \
	    sed 's/[\\"]/\\&/g; s/.*/"&\\n"/' $$f && echo ';' || exit 1; done >$@
# The manual with the tables of keys and parameters.
$(BUILD)/livestereo.1: docs/livestereo.1 docs/manual.sh docs/manual.def app/view/actions.def \
                       config/params.def
	$(call say,MAN,$@)
	@mkdir -p $(@D)
	$(Q)CC='$(CC)' docs/manual.sh >$@
# The presets as lines of "name=value": config/presets.h.
$(BUILD)/presets.c: $(sort $(wildcard config/presets/*.ini)) $(BUILD)/link.stamp
	$(call say,INI,config/presets)
	$(Q){ echo '#include "config/presets.h"' && echo 'const struct preset preset_table[] = {' && \
	    for f in $(filter %.ini,$^); do echo "{\"$$(basename $$f .ini)\"," && \
	    sed -n 's/[\"]/\\&/g; s/^\([a-z][a-z_0-9]*\)=\(.*\)$$/"\1=\2\\n"/p' $$f && \
	    echo '""},' || exit 1; done && echo '{NULL, NULL}};'; } >$@
# Files as bytes: $(1)[], and their number $(1)_size.
define as_bytes
$(call say,BYTES,$<)
$(Q){ echo '#include <stddef.h>' && \
    echo 'extern const unsigned char $(1)[];' && echo 'extern const size_t $(1)_size;' && \
    echo 'const unsigned char $(1)[] =' && \
    od -An -v -to1 -w32 $< | sed 's/ /\\/g; s/.*/"&"/' && echo ';' && \
    echo 'const size_t $(1)_size = sizeof($(1)) - 1;'; } >$@
endef
$(BUILD)/weights.c: config/features/weights.features $(BUILD)/link.stamp
	$(call as_bytes,feature_weights)
$(BUILD)/icon.c: share/icons/hicolor/64x64/apps/livestereo.png $(BUILD)/link.stamp
	$(call as_bytes,window_icon)
$(BUILD)/texts.c.o $(BUILD)/icon.c.o $(GENERATED): %.o: % $(BUILD)/c.stamp
	$(Q)$(CC) -std=c11 -I. $(SANITIZE) $(IN_LIBRARY) $(CPPFLAGS) $(CFLAGS) $(CWARN) -c -o $@ $<

IN_CORE = $(filter $(CORE) $(patsubst %,tests/%%,parity golden bench shuffled stage_cases),$<)
AVX512 = $(addprefix -mavx512,bw vl vbmi bitalg)
$(BUILD)/%_avx2.c.o $(BUILD)/%_simd.c.o: SIMD = $(if $(X86),-mavx2) $(UNCHECKED)
$(BUILD)/%_simd.c.avx512.o: SIMD = -DAVX512 -mavx2 $(AVX512) $(UNCHECKED)
# Without checks of each pointer's use, most of which AddressSanitizer repeats, compiling them takes
# a sixth of the time.
UNCHECKED = $(if $(findstring undefined,$(SANITIZE)), \
            $(patsubst %,-fno-sanitize=%,null alignment object-size pointer-overflow))
# Tests whose own code computes much; to optimise the others takes longer than they run.
COMPUTING = calibration_depth pair_check part pruning reach refine row_error
QUICK_TESTS = $(filter-out $(COMPUTING:%=tests/test_%.c),$(filter tests/test_% tests/gui/%,$<))
FOUND_CFLAGS = $(if $(IN_CORE),,$(if $(filter $(LIBRARY),$<),$(YAML_CFLAGS),$(PKG_CFLAGS)))
define COMPILE_C
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE -DLIVESTEREO_VERSION='"$(VERSION)"' \
	    $(COMMON) $(HARDENED) $(CWARN) $(FOUND_CFLAGS) $(IN_LIBRARY) $(SIMD) $(COVERED) \
	    $(CPPFLAGS) $(CFLAGS) $(if $(QUICK_TESTS),$(OPTIMISED:-O%=-O1)) -c -o $@ $<
endef
$(BUILD)/%.c.o: %.c $(BUILD)/c.stamp
	$(COMPILE_C)
$(BUILD)/%_simd.c.avx512.o: %_simd.c $(BUILD)/c.stamp
	$(COMPILE_C)
CXX_LEAN = -fno-exceptions -fno-rtti
$(BUILD)/calibration/%.cc.o $(BUILD)/tests/%.cc.o: private CXX_LEAN = # OpenCV throws
$(BUILD)/%.cc.o: %.cc $(BUILD)/c.stamp
	$(call say,CXX,$<)
	@mkdir -p $(@D)
	$(Q)$(CXX) -std=c++17 $(CXX_LEAN) $(COMMON) $(HARDENED) $(WARN) $(PKG_CFLAGS) \
	    $(OPENCV_CFLAGS) $(CPPFLAGS) $(CXXFLAGS) -c -o $@ $<
# In a check its code for the newest GPU, half of nvcc's time, ends as PTX. The instructions that
# it names itself are in bp.cuh, and are assembled for that GPU with active.cu.
$(BUILD)/gpu/cuda/bp.cu.o: private SASS = $(if $(CUDA_QUICK),$(firstword $(SMS)),$(SMS))
# Instructions that only compute capability 9.0 has are only in code for sm_90a.
$(BUILD)/gpu/cuda/feature.cu.o: private SASS = $(patsubst 90,90a,$(SMS)) $(if $(CUDA_QUICK),$(if \
    $(filter 90 90a,$(SMS)),,$(patsubst sm_90,90a,$(filter sm_90,$(ALL_ARCH)))))
$(BUILD)/%.cu.o: %.cu $(BUILD)/cu.stamp
	$(call say,NVCC,$<)
	@mkdir -p $(@D)
	$(Q)$(NVCC) $(NVCCFLAGS) -ccbin $(CXX) $(GENCODE) -MF $(@:.o=.d) -c -o $@ $<

OBJECTS_FIRST = $(filter %.o,$^) $(filter %.a,$^)
# Fuzzers read input; what computes and draws is not linked with them, but for the library's. What
# they have not run yet guides them through the code that reads, not through loops over pixels.
NO_INPUT = gpu/% library/% render/% app/main.c app/matcher.c app/cmd_view.c app/live/% app/view/% \
           app/batch/cmd_% app/bench/cmd_% app/calibrate/cmd_% app/eval/cmd_% app/eval/eval_% \
           app/run/cmd_% app/solve/cmd_%
INPUT = $(filter-out $(NO_INPUT),$(C)) app/view/session.c app/view/settings.c render/theme.c
COVERED = $(if $(COVERAGE),$(if $(filter $(GUIDES),$<),$(COVERAGE)))
GUIDES = $(filter-out capture/synth/%,$(INPUT)) $(filter library/%,$(C)) tests/fuzz_%
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
           census sampled picture surface border_plane refinement))
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
$(PARITY) $(GOLDEN) $(BUILD)/bench_gpu: $(BUILD)/%: $(BUILD)/tests/%.c.o $(BUILD)/core.a
	$(call say,LINK,$@)
	$(Q)$(LINK) -o $@ $(OBJECTS_FIRST) $(CUDA_LIBS) -lstdc++ -lm

# ---- what people run

run: deps
	$(SUB) $(if $(findstring -j,$(MAKEFLAGS)),,-j$$(nproc)) all
	@if [ -n "$$DISPLAY" ]; then $(BUILD)/livestereo; \
	else $(BUILD)/livestereo run synth:scene=desk --frames 100 --save-picture $(BUILD)/run.png; fi

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

deps:
	@tests/packages.sh $(RUN_PACKAGES)
deps-check:
	@tests/packages.sh $(CHECK_PACKAGES)
deps-check-all:
	@tests/packages.sh $(ALL_PACKAGES) $(VM_PACKAGES)

bench: all
	$(BUILD)/livestereo bench

# Desktop file, metainfo, icon, shell completions: installed at the paths they have here. Programs
# find a new library after ldconfig, which only root can run. A path may have blanks and quotes.
SHARED = $(shell find share -type f)
quoted = '$(subst ','\'',$(1))'
TO_INCLUDE = $(call quoted,$(DESTDIR)$(INCLUDEDIR))
TO_LIB = $(call quoted,$(DESTDIR)$(LIBDIR))
TO = $(call quoted,$(DESTDIR)$(PREFIX))
TO_DOC = $(TO)/share/doc/livestereo
below = $(subst $(PREFIX)/,$${prefix}/,$(1))
PC = s|@PREFIX@|$(PREFIX)|; s|@INCLUDEDIR@|$(call below,$(INCLUDEDIR))|; \
     s|@LIBDIR@|$(call below,$(LIBDIR))|; s|@VERSION@|$(VERSION)|; \
     s|@PRIVATE@|$(strip $(YAML_LIBS) $(CUDA_LIBS) $(if $(CU),-lstdc++))|
install: all
	$(install_files)
	$(if $(DESTDIR),,ldconfig 2>/dev/null || :)
# The library alone, which needs a compiler and libyaml.
install-lib: lib
	$(install_library)
	$(if $(DESTDIR),,ldconfig 2>/dev/null || :)
define install_library
	install -D -m 644 include/livestereo.h $(TO_INCLUDE)/livestereo.h
	install -D -m 644 $(BUILD)/$(SO) $(TO_LIB)/$(SO)
	ln -sf $(SO) $(TO_LIB)/liblivestereo.so
	install -m 644 $(BUILD)/liblivestereo.a $(TO_LIB)
	install -d $(TO_LIB)/pkgconfig
	sed $(call quoted,$(PC)) library/livestereo.pc.in >$(TO_LIB)/pkgconfig/livestereo.pc
endef
define install_files
	$(install_library)
	install -D -m 644 $(PLUGIN) $(TO_LIB)/gstreamer-1.0/$(notdir $(PLUGIN))
	install -D -m 755 $(BUILD)/livestereo $(TO)/bin/livestereo
	install -d $(TO_DOC)
	install -D -m 644 $(BUILD)/livestereo.1 $(TO)/share/man/man1/livestereo.1
	install -m 644 README.md CHANGELOG.md LICENSE $(wildcard LICENSES/*) $(wildcard docs/*.md) \
	    $(TO_DOC)
	for f in $(SHARED); do install -D -m 644 $$f $(TO)/$$f || exit 1; done
endef
uninstall:
	rm -f $(TO_INCLUDE)/livestereo.h $(TO_LIB)/pkgconfig/livestereo.pc
	cd $(TO_LIB) && rm -f $(notdir $(LIBRARIES)) gstreamer-1.0/$(notdir $(PLUGIN))
	rm -f $(TO)/bin/livestereo $(TO)/share/man/man1/livestereo.1
	rm -rf $(TO_DOC)
	cd $(TO) && rm -f $(SHARED)

clean:
	rm -rf $(BUILD)

help:
	@echo "all lib install-lib wheel run check check-all bench install uninstall clean deps"
	@echo "dist deb deb-check (packages of Debian: built, installed, tried, removed)"
	@echo "parts of check, each alone: $(CHECKS);  of check-all:"
	@echo "    $(patsubst tsan-all,tsan tsan-gui,$(LONG_CHECKS:asan-fuzz=asan fuzz))"
	@echo "with a GPU: gpu-test;  long: faults soak vm-window"
	@echo "errors on pictures with ground truth: accuracy;  beside the papers': papers"

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

# On Arm: the optimised stages by SIMDe, in NEON, against the plain ones, and the goldens, emulated;
# the library's own folder is compiled, too.
ARM = aarch64-linux-gnu-
ON_ARM = CC=$(ARM)gcc CXX=$(ARM)g++ AR=$(ARM)ar LD=$(ARM)ld OBJCOPY=$(ARM)objcopy \
         LDFLAGS=-static CUDA=0
arm:
	$(SUB) BUILD=$(BUILD)/arm $(ON_ARM) CFLAGS='-O3 -g1' RUNNER=qemu-aarch64-static \
	    PARITY_ARGS='--small --backend cpu' EMULATED_GPU= \
	    PARITY='$(addprefix $(BUILD)/arm/,parity parity_frames)' golden parity \
	    $(patsubst %,$(BUILD)/arm/%.o,$(filter library/%,$(LIBRARY)))

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

LINT = tidy cppcheck format style headers layers man desktop deb release
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
# The package for Python. A wheel for many systems needs the C library alone, from glibc 2.28 on,
# with CUDA libgcc_s, too. So libyaml is inside, what C++ needs too, and functions have the names of
# then.
# libstdc++ asks glibc 2.32 whether there is one thread: here it is told that there are more.
GLIBC = $(shell $(CC) -print-file-name=libc.so.6) $(shell $(CC) -print-file-name=libm.so.6)
$(WHEEL_SO): $(LIBRARY_OBJECTS) library/exports.map python/old_glibc.sh $(BUILD)/link.stamp
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)echo 'char __libc_single_threaded;' | $(CC) $(PIC) -x c -c - -o $@.threads
	$(Q)$(CC) -r -nostdlib $(LDFLAGS) -o $@.o $@.threads $(filter %.o,$^) -l:libyaml.a $(CUDA_LIBS) \
	    $(if $(CU),$(shell $(CXX) -print-file-name=libstdc++.a))
	$(Q)link() { $(CC) -shared -pthread -Wl,-soname,$(SO) \
	    -Wl,--version-script=library/exports.map,-z,defs,--no-as-needed,-s $(READ_ONLY) $(LDFLAGS) \
	    $@.o -lm -l:libpthread.so.0 $(if $(CU),-l:libdl.so.2 -l:librt.so.1) -o "$$1"; } && \
	    link $@.new && python/old_glibc.sh $@.new $(NM) $(GLIBC) >$@.names && \
	    $(OBJCOPY) --redefine-syms=$@.names $@.o && link $@
	@rm -f $@.o $@.threads $@.new $@.names
PYTHON_FILES = $(patsubst python/%,%,$(wildcard python/*.py python/README.md \
               python/livestereo/*.py python/livestereo/py.typed))
.SILENT: wheel
wheel: $(WHEEL_SO)
	$(if $(filter /usr/bin/python3,$(PYTHON)),tests/packages.sh python3-setuptools python3-wheel)
	$(call say,WHEEL,$(WHEEL))
	rm -rf $(WHEEL)/*.whl $(WHEEL)/build
	for f in $(PYTHON_FILES); do install -D -m 644 python/$$f $(WHEEL)/$$f || exit 1; done
	sed 's/@VERSION@/$(VERSION)/; s/@README@/README.md/' python/pyproject.toml.in \
	    >$(WHEEL)/pyproject.toml
	install -m 644 LICENSE $(WHEEL)
	for f in $(wildcard /usr/share/doc/libyaml-dev/copyright); do \
	    install -m 644 $$f $(WHEEL)/LICENSE.libyaml || exit 1; done
	glibc=$$(objdump -T $< | grep -o 'GLIBC_[0-9.]*' | sort -V | tail -n 1) && cd $(WHEEL) && \
	    $(PYTHON) -W ignore setup.py -q bdist_wheel --dist-dir . --plat-name \
	    manylinux_$$(echo "$${glibc#GLIBC_}" | tr . _)_$(firstword $(subst -, ,$(MACHINE)))
$(patsubst %,package-%,hardened python readme): wheel

# All sources, which build without git, and Debian's packages of them, in a folder of its own.
DIST = livestereo-$(VERSION)
SOURCES = { if [ -e .git ]; then git ls-files; else find . -type f -not -path './build/*'; fi; }
# The same bytes, whoever packs them.
IN_TAR = --transform='s,^\(\./\)\?,$(1)/,' --owner=0 --group=0 --numeric-owner --sort=name \
         --mtime=@$(SOURCE_DATE_EPOCH) --mode=u=rwX,go=rX
export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || date +%s)
dist: $(BUILD)/$(DIST).tar.xz
$(BUILD)/$(DIST).tar.xz: FORCE
	$(call say,TAR,$@)
	@mkdir -p $(@D)
	$(Q)$(SOURCES) | tar -cf - $(call IN_TAR,$(DIST)) -T - | xz >$@
# The same for pip, which builds the wheel of it.
.PHONY: sdist sbom
# What the program is linked with, for releases.
sbom: $(BUILD)/livestereo
	$(call say,SPDX,$(BUILD)/$(DIST).spdx)
	$(Q)packaging/sbom.sh $(VERSION) $< >$(BUILD)/$(DIST).spdx
sdist:
	$(call say,TAR,$(BUILD)/$(DIST).tar.gz)
	@rm -rf $(BUILD)/sdist && mkdir -p $(BUILD)/sdist
	$(Q)$(SOURCES) | tar -cf - -T - | tar -xf - -C $(BUILD)/sdist
	$(Q)cp python/setup.py $(BUILD)/sdist
	$(Q)sed 's/@VERSION@/$(VERSION)/; s,@README@,python/README.md,' python/pyproject.toml.in \
	    >$(BUILD)/sdist/pyproject.toml
	$(Q)cd $(BUILD)/sdist && $(PYTHON) -W ignore setup.py -q egg_info && \
	    cp python/livestereo.egg-info/PKG-INFO . && rm -r python/livestereo.egg-info && \
	    find . -type f | tar -cf - $(call IN_TAR,$(DIST)) -T - | gzip -n >../$(DIST).tar.gz
DEBS = livestereo liblivestereo0 liblivestereo-dev python3-livestereo gstreamer1.0-livestereo
deb: $(BUILD)/$(DIST).tar.xz
	@tests/packages.sh $(RUN_PACKAGES) $(DEB_PACKAGES)
	$(Q)rm -rf $(BUILD)/deb && mkdir $(BUILD)/deb && tar -C $(BUILD)/deb -xf $<
	$(call say,DEB,$(BUILD)/deb)
	$(Q)cd $(BUILD)/deb/$(DIST) && env -u MAKEFLAGS -u MFLAGS -u MAKEOVERRIDES -u WERROR \
	    dpkg-buildpackage -us -uc -j$$(nproc) >../build.log 2>&1 || \
	    { tail -n 40 ../build.log; exit 1; }
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

-include $(shell find $(BUILD) -maxdepth 3 -name '*.d' 2>/dev/null) $(EMULATED:.o=.d)
