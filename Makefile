# livestereo: `make run` and `make check` are all the set-up there is; `make help` lists the rest.
# SPDX-License-Identifier: MIT
#
# Everything is made under $(BUILD). Sources are found by folder, so a new file needs no line here:
# gpu/cuda/X.cu is built where nvcc is found, gpu/cuda/X_stub.c stands in for it elsewhere, X_avx2.c
# is compiled for AVX2, X_simd.c for AVX2 and once more for AVX-512, and elsewhere than on x86-64
# both are what SIMDe makes of them. tests/checks.mk builds and runs the tests.
# Yours to set: CC CXX NVCC CFLAGS CXXFLAGS CPPFLAGS LDFLAGS CUDA_ARCH ("sm_90 sm_120"; "all";
# without it the machine's GPUs, and no CUDA backend where none answers) CUDA=0 OPENCV=0 CERES=0
# PYTHON WERROR=-Werror PREFIX LIBDIR INCLUDEDIR DESTDIR V=1 FUZZ_SECONDS FAULTS.

VERSION = 0.1.0
PKGS = glib-2.0 libpng libturbojpeg libv4l2 libudev gstreamer-app-1.0 gstreamer-video-1.0 \
       gstreamer-pbutils-1.0 imgui glfw3 epoxy x11 yaml-0.1 libzstd liblz4 zlib libexif libtiff-4 \
       libavformat libavcodec libavutil libwebsockets json-glib-1.0
BUILD ?= build
$(if $(word 2,$(BUILD)),$(error BUILD: a folder without blanks in its name))
# A second make in this folder waits until the first has ended, as tail sees, which gets the lock.
# Those that run the program for long do not lock.
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
export LIVESTEREO_DATA ?= ../shared/data
ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(origin CXX),default)
CXX := $(if $(filter clang,$(CC)),clang++,g++)
endif
CFLAGS ?= -O3 -g
CXXFLAGS ?= $(CFLAGS)
MACHINE := $(shell $(CC) -dumpmachine 2>/dev/null)
X86 := $(filter x86_64%,$(MACHINE))
# Warnings are errors in tests alone: another compiler may have new ones.
export WERROR ?= $(if $(filter check check-all asan fuzz $(CHECKS) $(LONG_CHECKS) lint-% \
                      gpu-test,$(MAKECMDGOALS)),-Werror)
WARN = -Wall -Wextra -Wshadow -Wpointer-arith -Wvla $(WERROR)
CWARN = $(WARN) -Wstrict-prototypes -Wmissing-prototypes
# No fused multiply-add: the numbers must not depend on the compiler.
COMMON = -I. -MD -MP -ffp-contract=off -pthread $(SANITIZE)
# What is installed ends where memory is overrun, on the stack or in calls of the C library, and its
# frames fit a thread's stack of 256 KB. Sanitizers see more.
OPTIMISED = $(filter-out -O0,$(filter -O%,$(CFLAGS)))
ifndef SANITIZE
HARDENED = -fstack-protector-strong $(if $(OPTIMISED),-Wframe-larger-than=100000 $(FORTIFY))
FORTIFY = $(if $(findstring FORTIFY_SOURCE,$(CPPFLAGS) $(CFLAGS)),,-D_FORTIFY_SOURCE=2)
DEFINED = -Wl,-z,defs
endif
PRODUCT = $(if $(filter tests/%,$<),,$(HARDENED))
READ_ONLY = -Wl,-z,relro,-z,now
# pkg-config is asked at the first use; on a bare machine that is after `make run` has installed it.
ask = $(eval $(1) := $$(shell $(PKG_CONFIG) $(2)))$($(1))
PKG_CFLAGS = $(call ask,PKG_CFLAGS,--cflags $(PKGS))
PKG_LIBS = $(call ask,PKG_LIBS,--libs $(PKGS))
YAML_CFLAGS = $(call ask,YAML_CFLAGS,--cflags yaml-0.1)
YAML_LIBS = $(call ask,YAML_LIBS,--libs yaml-0.1)
NVCC ?= $(firstword $(shell command -v nvcc) $(wildcard /usr/local/cuda/bin/nvcc))
ifneq ($(if $(filter 0,$(CUDA)),,$(NVCC)),)
GPUS := $(shell gpu/cuda/arch.sh '$(NVCC)' '$(CUDA_ARCH)' $(filter gpu-test,$(MAKECMDGOALS)))
some = $(patsubst $(1):%,%,$(filter $(1):%,$(GPUS)))
ALL_ARCH := $(call some,all)
# Without a GPU a check compiles for the oldest and the newest, which finds what all would but for
# sm_90a's own instructions (feature.cu), and without optimisation: an eighth of the time.
CHECK_ARCH := $(call some,now)
ifneq ($(filter $(words $(ALL_ARCH)) 0,$(words $(CHECK_ARCH))),)
CHECK_ARCH := $(filter $(firstword $(ALL_ARCH)) $(lastword $(ALL_ARCH)),$(ALL_ARCH))
CHECK_CUDA_QUICK = -Xcicc -O0 -Xptxas -O0
endif
override CUDA_ARCH := $(call some,now)
$(if $(call some,unknown),$(error CUDA_ARCH: $(NVCC) has no $(call some,unknown)))
HAVE_CUDA := $(if $(CUDA_ARCH),$(NVCC))
endif
ifneq ($(HAVE_CUDA),)
SMS = $(patsubst sm_%,%,$(CUDA_ARCH))
SASS = $(SMS)
GENCODE = $(foreach a,$(SASS),-gencode arch=compute_$a,code=sm_$a) \
          $(foreach a,$(lastword $(SMS)),-gencode arch=compute_$a,code=compute_$a)
NVCCFLAGS = -std=c++17 -O3 --fmad=false -I. -MD -MP -t0 $(if $(WERROR),--Werror all-warnings) \
            -Xcompiler -Wall,-ffp-contract=off $(PIC:%=-Xcompiler %) $(CPPFLAGS:%=-Xcompiler %) \
            $(CUDA_QUICK)
CUDA_LIBS = -L$(dir $(realpath $(NVCC)))../lib64 -lcudart_static -ldl -lrt -lpthread
CU = $(wildcard gpu/cuda/*.cu)
STUBBED += gpu/%_stub.c
endif
# Calibration; parts of OpenCV have no .pc files of their own. Warnings in Eigen are not ours.
WORKSHOP = calibration/workshop
found = $(firstword $(wildcard $(addsuffix /include/$(1),/usr/local /usr)))
HAVE_OPENCV := $(if $(filter 0,$(OPENCV)),,$(call found,opencv4/opencv2/video.hpp))
ifneq ($(HAVE_OPENCV),)
CALIB_CFLAGS = -isystem $(HAVE_OPENCV:/opencv2/video.hpp=)
CALIB_LIBS = -lopencv_video -lopencv_calib3d -lopencv_features2d -lopencv_imgproc -lopencv_core
STUBBED += $(WORKSHOP)/opencv_stub.c
HAVE_CERES := $(if $(filter 0,$(CERES)),,$(call found,ceres/ceres.h))
else
NOT_BUILT = $(WORKSHOP)/%.cc
endif
ifneq ($(HAVE_CERES),)
CALIB_CFLAGS += -isystem /usr/include/eigen3
CALIB_LIBS += -lceres -lglog
STUBBED += $(WORKSHOP)/ceres_stub.c
else
NOT_BUILT += $(WORKSHOP)/refine_fit.cc
endif
FOLDERS = app app/* base config image capture capture/* gpu gpu/* calibration calibration/* \
          render
C = $(filter-out $(STUBBED),$(wildcard $(FOLDERS:%=%/*.c)))
CC_FILES = $(filter-out $(NOT_BUILT),$(wildcard $(FOLDERS:%=%/*.cc)))
# liblivestereo consists of files that need no other library (CORE), of those that read rigs, by
# libyaml, and of generated ones. The program has the same objects.
CORE = $(filter-out gpu/rig_file.c,$(filter gpu/%,$(C))) $(CU) $(wildcard base/*.c) \
       $(patsubst %,config/%.c,feature_network params presets) \
       $(patsubst %,calibration/%.c,camera depth rectify rig)
LIBRARY = $(CORE) gpu/rig_file.c \
          $(patsubst %,calibration/%.c,rig_read rig_read_text rig_read_yaml yaml_tree)
obj = $(patsubst %,$(BUILD)/%.o,$(1)) \
      $(if $(X86),$(patsubst %,$(BUILD)/%.avx512.o,$(filter %_simd.c,$(1))))
GENERATED = $(BUILD)/presets.c.o $(BUILD)/weights.c.o
LIBRARY_OBJECTS = $(call obj,$(LIBRARY)) $(GENERATED)
PIC = -fPIC -fvisibility=hidden
IN_LIBRARY = $(if $(filter $@,$(LIBRARY_OBJECTS) $(PLUGIN_OBJECTS)),$(PIC))
SO = liblivestereo.so.0
LIBRARIES = $(patsubst %,$(BUILD)/%,$(SO) liblivestereo.so liblivestereo.a)
# The GStreamer plugin, which uses the library as others do, and the program's colours.
PLUGIN = $(BUILD)/gst/libgstlivestereo.so
PLUGIN_OBJECTS = $(call obj,$(wildcard bindings/gst/*.c) image/colormap.c)
# A program with a sanitizer is linked by lld, where it is installed: a seventh of the time.
LLD := $(if $(SANITIZE),$(if $(shell command -v ld.lld),-fuse-ld=lld))
LINK = $(if $(CU)$(CC_FILES),$(CXX),$(CC)) -pthread $(SANITIZE) $(COVERAGE) $(LLD) $(READ_ONLY) \
       $(LDFLAGS)
LIBS = $(STATIC_LIBS) $(PKG_LIBS) $(CALIB_LIBS) $(CUDA_LIBS) -lbz2 -lm
Q = $(if $(filter 1,$(V)),,@)
say = @mkdir -p $(@D)$(if $(Q),; printf '  %-5s %s\n' $(1) '$(2)')
SUB = +$(Q)$(MAKE) --no-print-directory
.PHONY: all found lib run deps bench install install-lib uninstall clean help wheel dist sdist \
        sbom deb FORCE
.DELETE_ON_ERROR:
.SECONDARY:
all: found $(BUILD)/livestereo lib $(PLUGIN) $(BUILD)/livestereo.1
lib: $(LIBRARIES)
found:
	@echo "backends: cpu, $(if $(CU),cuda by $(NVCC) for $(strip $(CUDA_ARCH)),$(NO_CUDA))"
	@echo "chessboard calibration: $(if $(HAVE_OPENCV),by $(HAVE_OPENCV),$(NO_OPENCV))"
NO_CUDA = no cuda (with CUDA=0, without nvcc, or no GPU answers nvidia-smi; CUDA_ARCH=all builds it)
NO_OPENCV = none (with OPENCV=0, or no libopencv-calib3d-dev and libopencv-video-dev found)
$(BUILD)/livestereo: $(call obj,app/main.c) $(BUILD)/all.a
	$(call say,LINK,$@)
	$(Q)$(LINK) -o $@ $^ $(LIBS)
# Each is rewritten when its text changes, and what was made with the old one waits for it.
c_text = $(VERSION) $(CC) $(CXX) $(CPPFLAGS) $(CFLAGS) $(CXXFLAGS) $(CWARN) $(COMMON) $(PIC)
cu_text = $(NVCC) $(CXX) $(NVCCFLAGS) $(GENCODE)
link_text = $(LINK) $(PKGS) $(CUDA_LIBS) $(C) $(CC_FILES) $(CU)
$(patsubst %,$(BUILD)/%.stamp,c cu link): $(BUILD)/%.stamp: FORCE
	@mkdir -p $(@D)
	@echo '$($*_text)' >$@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@
$(BUILD)/$(SO): $(LIBRARY_OBJECTS) include/exports.map $(BUILD)/link.stamp
	$(call say,LINK,$@)
	$(Q)$(if $(CU),$(CXX) -static-libstdc++ -static-libgcc,$(CC)) -shared -pthread \
	    -Wl,-soname,$(SO),--version-script=include/exports.map $(DEFINED) $(SANITIZE) \
	    $(READ_ONLY) $(LDFLAGS) -o $@ $(filter %.o,$^) $(YAML_LIBS) $(CUDA_LIBS) -lm
$(BUILD)/liblivestereo.so: $(BUILD)/$(SO)
	$(Q)ln -sf $(SO) $@
# It finds the library in the folder above its own, built and installed.
PLUGIN_RPATH ?= -Wl,-rpath,'$$ORIGIN/..'
PLUGIN_LIBS = $(shell $(PKG_CONFIG) --libs gstreamer-video-1.0 gstreamer-base-1.0)
$(PLUGIN): $(PLUGIN_OBJECTS) $(BUILD)/liblivestereo.so $(BUILD)/link.stamp
	$(call say,LINK,$@)
	$(Q)$(CC) -shared -pthread $(PLUGIN_RPATH) $(DEFINED) $(SANITIZE) $(READ_ONLY) $(LDFLAGS) \
	    -o $@ $(filter %.o,$^) -L$(BUILD) -llivestereo $(PLUGIN_LIBS)
# One object, of which other files see what livestereo.h declares.
$(BUILD)/liblivestereo.a: $(LIBRARY_OBJECTS) $(BUILD)/link.stamp
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(CC) -r -nostdlib -o $(@:.a=.o) $(filter %.o,$^)
	$(Q)$(OBJCOPY) --localize-hidden $(@:.a=.o) && $(AR) rcs $@ $(@:.a=.o) && rm $(@:.a=.o)
$(BUILD)/all.a: $(call obj,$(filter-out app/main.c,$(C)) $(CC_FILES) $(CU)) \
                $(BUILD)/texts.c.o $(GENERATED)
$(BUILD)/core.a: $(call obj,$(CORE) image/frame.c) $(GENERATED)
$(BUILD)/%.a: $(BUILD)/link.stamp
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $(filter %.o,$^)
# The manual with the tables of keys and parameters; files as C.
$(BUILD)/livestereo.1: docs/livestereo.1 docs/manual.sh docs/manual.def app/view/actions.def \
                       config/params.def
	$(call say,MAN,$@)
	$(Q)CC='$(CC)' docs/manual.sh >$@
$(BUILD)/texts.c: as_c = texts
$(BUILD)/texts.c: $(wildcard shaders/* app/live/page/*)
$(BUILD)/presets.c: as_c = presets
$(BUILD)/presets.c: $(sort $(wildcard config/presets/*.ini))
$(BUILD)/weights.c: as_c = feature_weights
$(BUILD)/weights.c: config/features/weights.features
AS_C = $(patsubst %,$(BUILD)/%.c,texts presets weights)
$(AS_C): packaging/as_c.sh $(BUILD)/link.stamp
	$(call say,AS_C,$@)
	$(Q)packaging/as_c.sh $(as_c) $(filter-out packaging/as_c.sh %.stamp,$^) >$@
$(AS_C:%=%.o): %.o: % $(BUILD)/c.stamp
	$(Q)$(CC) -std=c11 -I. $(SANITIZE) $(IN_LIBRARY) $(CPPFLAGS) $(CFLAGS) $(CWARN) -c -o $@ $<
AVX512 = $(addprefix -mavx512,bw vl vbmi bitalg vnni)
$(BUILD)/%_avx2.c.o $(BUILD)/%_simd.c.o: SIMD = $(if $(X86),-mavx2) $(UNCHECKED)
$(BUILD)/%_simd.c.avx512.o: SIMD = -DAVX512 -mavx2 $(AVX512) $(UNCHECKED)
# Checks of each pointer's use, most of which AddressSanitizer repeats, take six times as long.
UNCHECKED = $(if $(findstring undefined,$(SANITIZE)), \
            $(patsubst %,-fno-sanitize=%,null alignment object-size pointer-overflow))
# The core takes no libraries, so that a machine with a GPU needs none for its tests.
IN_CORE = $(filter $(CORE) image/frame.c \
          $(patsubst %,tests/%%,parity golden bench shuffled stage_cases),$<)
OTHERS_CFLAGS = $(if $(filter $(LIBRARY),$<),$(YAML_CFLAGS),$(PKG_CFLAGS))
define COMPILE_C
$(call say,CC,$<)
$(Q)$(CC) -std=c11 -D_GNU_SOURCE -DLIVESTEREO_VERSION='"$(VERSION)"' $(COMMON) $(PRODUCT) \
    $(CWARN) $(if $(IN_CORE),,$(OTHERS_CFLAGS)) $(IN_LIBRARY) $(SIMD) $(COVERED) $(CPPFLAGS) \
    $(CFLAGS) $(if $(QUICK_TESTS),$(OPTIMISED:-O%=-O1)) -c -o $@ $<
endef
$(BUILD)/%.c.o: %.c $(BUILD)/c.stamp
	$(COMPILE_C)
$(BUILD)/%_simd.c.avx512.o: %_simd.c $(BUILD)/c.stamp
	$(COMPILE_C)
CXX_LEAN = -fno-exceptions -fno-rtti
$(BUILD)/calibration/workshop/%.cc.o $(BUILD)/tests/%.cc.o: private CXX_LEAN = # OpenCV throws
$(BUILD)/%.cc.o: %.cc $(BUILD)/c.stamp
	$(call say,CXX,$<)
	$(Q)$(CXX) -std=c++17 $(CXX_LEAN) $(COMMON) $(PRODUCT) $(WARN) $(PKG_CFLAGS) \
	    $(CALIB_CFLAGS) $(CPPFLAGS) $(CXXFLAGS) -c -o $@ $<
# In a check its code for the newest GPU, half of nvcc's time, is PTX; active.cu assembles bp.cuh.
$(BUILD)/gpu/cuda/bp.cu.o: private SASS = $(if $(CUDA_QUICK),$(firstword $(SMS)),$(SMS))
# Instructions that only compute capability 9.0 has are only in code for sm_90a; checks have it.
CHECKED_90A = $(if $(filter 90 90a,$(SMS)),,$(patsubst sm_90,90a,$(filter sm_90,$(ALL_ARCH))))
$(BUILD)/gpu/cuda/feature.cu.o: private SASS = $(patsubst 90,90a,$(SMS)) \
    $(if $(CUDA_QUICK),$(CHECKED_90A))
$(BUILD)/%.cu.o: %.cu $(BUILD)/cu.stamp
	$(call say,NVCC,$<)
	$(Q)$(NVCC) $(NVCCFLAGS) -ccbin $(CXX) $(GENCODE) -MF $(@:.o=.d) -c -o $@ $<

# ---- what people run
run: deps
	$(SUB) $(if $(findstring -j,$(MAKEFLAGS)),,-j$$(nproc)) all
	@if [ -n "$$DISPLAY" ]; then $(BUILD)/livestereo; \
	else $(BUILD)/livestereo run synth: --frames 100 --save-picture $(BUILD)/run.png; fi
deps:
	@tests/packages.sh run
bench: $(BUILD)/bench_gpu
	$<
clean:
	rm -rf $(BUILD)
help:
	@echo "all lib install-lib wheel run check check-all bench install uninstall clean deps"
	@echo "dist sdist sbom deb deb-check (Debian's packages: built, installed, tried, removed)"
	@echo "parts of check, each alone: $(CHECKS);  of check-all:"
	@echo "    $(patsubst tsan-all,tsan tsan-gui,$(LONG_CHECKS:asan-fuzz=asan fuzz))"
	@echo "with a GPU: gpu-test;  long: faults soak vm-window"
	@echo "errors on pictures with ground truth: accuracy;  beside the papers': papers"

# A path may have blanks and quotes. Programs find a new library after ldconfig, which needs root.
quoted = '$(subst ','\'',$(1))'
INSTALLER = PRIVATE_LIBS='$(strip $(YAML_LIBS) $(CUDA_LIBS) $(if $(CU),-lstdc++))' \
            $(foreach v,DESTDIR PREFIX LIBDIR INCLUDEDIR BUILD VERSION SO,$v=$(call quoted,$($v))) \
            packaging/install.sh
install: all
	$(INSTALLER) all
	$(if $(DESTDIR),,ldconfig 2>/dev/null || :)
install-lib: lib
	$(INSTALLER) library
	$(if $(DESTDIR),,ldconfig 2>/dev/null || :)
uninstall:
	$(INSTALLER) uninstall
# The package for Python; an sdist builds its wheel by this Makefile.
WHEEL = $(BUILD)/wheel
WHEEL_SO = $(WHEEL)/livestereo/$(SO)
$(WHEEL_SO): $(LIBRARY_OBJECTS) include/exports.map bindings/python/link.sh $(BUILD)/link.stamp
	$(call say,LINK,$@)
	$(Q)CC='$(CC)' CXX='$(CXX)' NM='$(NM)' OBJCOPY='$(OBJCOPY)' LDFLAGS='$(LDFLAGS)' SO=$(SO) \
	    READ_ONLY='$(READ_ONLY)' CUDA_LIBS='$(CUDA_LIBS)' bindings/python/link.sh $@ $(filter %.o,$^)
PACK = VERSION=$(VERSION) PYTHON='$(PYTHON)' bindings/python/pack.sh
wheel: $(WHEEL_SO)
	@$(if $(filter /usr/bin/python3,$(PYTHON)),tests/packages.sh python)
	$(call say,WHEEL,$(WHEEL))
	$(Q)$(PACK) wheel $(WHEEL) $(firstword $(subst -, ,$(MACHINE)))
# All sources, for pip, too; what the program is linked with, for releases; Debian's packages, in a
# folder of its own.
export DIST = livestereo-$(VERSION)
export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || date +%s)
dist: $(BUILD)/$(DIST).tar.xz
$(BUILD)/$(DIST).tar.xz: FORCE
	$(call say,TAR,$@)
	$(Q)packaging/dist.sh | xz >$@
sdist:
	$(call say,TAR,$(BUILD)/$(DIST).tar.gz)
	$(Q)rm -rf $(BUILD)/sdist && mkdir -p $(BUILD)/sdist
	$(Q)packaging/dist.sh | tar -xf - -C $(BUILD)/sdist --strip-components=1
	$(Q)$(PACK) sdist $(BUILD)/sdist && packaging/dist.sh $(BUILD)/sdist | gzip -n \
	    >$(BUILD)/$(DIST).tar.gz
sbom: $(BUILD)/livestereo
	$(call say,SPDX,$(BUILD)/$(DIST).spdx)
	$(Q)packaging/sbom.sh $(VERSION) $< >$(BUILD)/$(DIST).spdx
DEBS = livestereo liblivestereo0 liblivestereo-dev python3-livestereo gstreamer1.0-livestereo
deb: $(BUILD)/$(DIST).tar.xz
	@tests/packages.sh deb
	$(call say,DEB,$(BUILD)/deb)
	$(Q)rm -rf $(BUILD)/deb && mkdir $(BUILD)/deb && tar -C $(BUILD)/deb -xf $<
	$(Q)cd $(BUILD)/deb/$(DIST) && env -u MAKEFLAGS -u MFLAGS -u MAKEOVERRIDES -u WERROR \
	    dpkg-buildpackage -us -uc -j$$(nproc) >../build.log 2>&1 || \
	    { tail -n 40 ../build.log; exit 1; }
include tests/checks.mk
-include $(shell find $(BUILD) -maxdepth 3 -name '*.d' 2>/dev/null) $(EMULATED:.o=.d)
