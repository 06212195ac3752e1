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
RUN_PACKAGES = gcc g++ pkg-config libglib2.0-dev libpng-dev libturbojpeg0-dev libv4l-dev \
               libudev-dev libgstreamer1.0-dev \
               libgstreamer-plugins-base1.0-dev gstreamer1.0-plugins-good gstreamer1.0-libav \
               libglfw3-dev libepoxy-dev libx11-dev libimgui-dev libcglm-dev libgl1-mesa-dri \
               fonts-dejavu-core libyaml-dev libzstd-dev liblz4-dev zlib1g-dev libbz2-dev \
               libexif-dev libtiff-dev libavformat-dev libopencv-calib3d-dev libopencv-video-dev \
               libwebsockets-dev libjson-glib-dev libceres-dev \
               fonts-roboto-unhinted fonts-material-design-icons-iconfont \
               $(if $(X86),,libsimde-dev)
PKGS = glib-2.0 libpng libturbojpeg libv4l2 libudev gstreamer-app-1.0 gstreamer-video-1.0 \
       gstreamer-pbutils-1.0 imgui glfw3 epoxy x11 yaml-0.1 libzstd liblz4 zlib libexif libtiff-4 \
       libavformat libavcodec libavutil libwebsockets json-glib-1.0
DEB_PACKAGES = dpkg-dev debhelper dh-python lintian fakeroot gstreamer1.0-plugins-base

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
CERES ?= 1
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

# Calibration; parts of OpenCV have no .pc files of their own. Where video is, calib3d must be, too.
HAVE_OPENCV := $(if $(filter-out 0,$(OPENCV)),$(firstword $(wildcard \
               $(addsuffix /include/opencv4/opencv2/video.hpp,/usr/local /usr))))
ifneq ($(HAVE_OPENCV),)
CALIB_CFLAGS = -isystem $(HAVE_OPENCV:/opencv2/video.hpp=)
CALIB_LIBS = -lopencv_video -lopencv_calib3d -lopencv_features2d -lopencv_imgproc -lopencv_core
endif

# The fit of refined rigs; warnings in Eigen's headers are not ours. Without OpenCV there are no
# features to fit.
HAVE_CERES := $(if $(filter-out 0,$(CERES)),$(if $(HAVE_OPENCV),$(firstword $(wildcard \
              $(addsuffix /include/ceres/ceres.h,/usr/local /usr)))))
ifneq ($(HAVE_CERES),)
CALIB_CFLAGS += -isystem /usr/include/eigen3
CALIB_LIBS += -lceres -lglog
endif

FOLDERS = app app/* base config image capture capture/* gpu gpu/* calibration calibration/* \
          render
CU = $(if $(HAVE_CUDA),$(wildcard gpu/cuda/*.cu))
MACHINE := $(shell $(CC) -dumpmachine 2>/dev/null)
X86 := $(filter x86_64%,$(MACHINE))
WORKSHOP = calibration/workshop
C = $(filter-out $(if $(HAVE_CUDA),gpu/%_stub.c) $(if $(HAVE_OPENCV),$(WORKSHOP)/opencv_stub.c) \
    $(if $(HAVE_CERES),$(WORKSHOP)/ceres_stub.c),$(wildcard $(FOLDERS:%=%/*.c)))
CC_FILES = $(filter-out $(if $(HAVE_OPENCV),,$(WORKSHOP)/%) \
           $(if $(HAVE_CERES),,$(WORKSHOP)/refine_fit.cc),$(wildcard $(FOLDERS:%=%/*.cc)))
# What liblivestereo consists of, besides what is generated: what needs no other library, and what
# reads rigs, by libyaml.
CORE = $(filter-out gpu/rig_file.c,$(filter gpu/%,$(C))) $(CU) $(wildcard base/*.c) \
       $(patsubst %,config/%.c,feature_network params presets) \
       $(patsubst %,calibration/%.c,camera depth rectify rig)
LIBRARY = $(CORE) gpu/rig_file.c \
          $(patsubst %,calibration/%.c,rig_read rig_read_text rig_read_yaml yaml_tree)
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
PLUGIN_OBJECTS = $(call obj,$(wildcard bindings/gst/*.c) image/colormap.c)
# A program with a sanitizer is linked by lld, where it is installed: a seventh of the time.
LLD := $(if $(SANITIZE),$(if $(shell command -v ld.lld),-fuse-ld=lld))
LINK = $(if $(CU)$(CC_FILES),$(CXX),$(CC)) -pthread $(SANITIZE) $(COVERAGE) $(LLD) $(READ_ONLY) \
       $(LDFLAGS)
LIBS = $(STATIC_LIBS) $(PKG_LIBS) $(CALIB_LIBS) $(CUDA_LIBS) -lbz2 -lm

Q = $(if $(filter 0,$(V)),@)
say = $(if $(filter 0,$(V)),@printf '  %-5s %s\n' $(1) '$(2)')
SUB = +$(Q)$(MAKE) --no-print-directory

.PHONY: all found lib run deps bench install install-lib uninstall clean help wheel dist deb FORCE
.DELETE_ON_ERROR:
.SECONDARY:

all: found $(BUILD)/livestereo lib $(PLUGIN) $(BUILD)/livestereo.1
lib: $(LIBRARIES)

found:
	@echo "backends: cpu, $(if $(CU),cuda by $(HAVE_CUDA) for $(strip $(CUDA_ARCH)),$(NO_CUDA))"
	@echo "chessboard calibration: $(if $(HAVE_OPENCV),by $(HAVE_OPENCV),$(NO_OPENCV))"
NO_OPENCV = none ($(if $(filter 0,$(OPENCV)),OPENCV=0,no libopencv-calib3d-dev and \
            libopencv-video-dev found))
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
$(BUILD)/$(SO): $(LIBRARY_OBJECTS) include/exports.map $(BUILD)/link.stamp
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(if $(CU),$(CXX) -static-libstdc++ -static-libgcc,$(CC)) -shared -pthread \
	    -Wl,-soname,$(SO),--version-script=include/exports.map $(if $(SANITIZE),,-Wl,-z,defs) \
	    $(SANITIZE) $(READ_ONLY) $(LDFLAGS) -o $@ $(filter %.o,$^) $(YAML_LIBS) $(CUDA_LIBS) -lm
$(BUILD)/liblivestereo.so: $(BUILD)/$(SO)
	$(Q)ln -sf $(SO) $@
# It finds the library in the folder above its own, built and installed.
PLUGIN_RPATH ?= -Wl,-rpath,'$$ORIGIN/..'
PLUGIN_LIBS = $(shell $(PKG_CONFIG) --libs gstreamer-video-1.0 gstreamer-base-1.0)
$(PLUGIN): $(PLUGIN_OBJECTS) $(BUILD)/liblivestereo.so $(BUILD)/link.stamp
	$(call say,LINK,$@)
	@mkdir -p $(@D)
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
$(BUILD)/core.a: $(call obj,$(CORE) image/frame.c) $(GENERATED)
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
$(BUILD)/icon.c: packaging/share/icons/hicolor/64x64/apps/livestereo.png $(BUILD)/link.stamp
	$(call as_bytes,window_icon)
$(BUILD)/texts.c.o $(BUILD)/icon.c.o $(GENERATED): %.o: % $(BUILD)/c.stamp
	$(Q)$(CC) -std=c11 -I. $(SANITIZE) $(IN_LIBRARY) $(CPPFLAGS) $(CFLAGS) $(CWARN) -c -o $@ $<

IN_CORE = $(filter $(CORE) image/frame.c app/bench/bench.c \
          $(patsubst %,tests/%%,parity golden bench shuffled stage_cases),$<)
AVX512 = $(addprefix -mavx512,bw vl vbmi bitalg)
$(BUILD)/%_avx2.c.o $(BUILD)/%_simd.c.o: SIMD = $(if $(X86),-mavx2) $(UNCHECKED)
$(BUILD)/%_simd.c.avx512.o: SIMD = -DAVX512 -mavx2 $(AVX512) $(UNCHECKED)
# Without checks of each pointer's use, most of which AddressSanitizer repeats, compiling them takes
# a sixth of the time.
UNCHECKED = $(if $(findstring undefined,$(SANITIZE)), \
            $(patsubst %,-fno-sanitize=%,null alignment object-size pointer-overflow))
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
$(BUILD)/calibration/workshop/%.cc.o $(BUILD)/tests/%.cc.o: private CXX_LEAN = # OpenCV throws
$(BUILD)/%.cc.o: %.cc $(BUILD)/c.stamp
	$(call say,CXX,$<)
	@mkdir -p $(@D)
	$(Q)$(CXX) -std=c++17 $(CXX_LEAN) $(COMMON) $(HARDENED) $(WARN) $(PKG_CFLAGS) \
	    $(CALIB_CFLAGS) $(CPPFLAGS) $(CXXFLAGS) -c -o $@ $<
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

# ---- what people run

run: deps
	$(SUB) $(if $(findstring -j,$(MAKEFLAGS)),,-j$$(nproc)) all
	@if [ -n "$$DISPLAY" ]; then $(BUILD)/livestereo; \
	else $(BUILD)/livestereo run synth:scene=desk --frames 100 --save-picture $(BUILD)/run.png; fi

deps:
	@tests/packages.sh $(RUN_PACKAGES)

bench: all
	$(BUILD)/livestereo bench

# Desktop file, metainfo, icon, shell completions: installed at the paths they have here. Programs
# find a new library after ldconfig, which only root can run. A path may have blanks and quotes.
SHARED = $(shell find packaging/share -type f)
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
	sed $(call quoted,$(PC)) include/livestereo.pc.in >$(TO_LIB)/pkgconfig/livestereo.pc
endef
define install_files
	$(install_library)
	install -D -m 644 $(PLUGIN) $(TO_LIB)/gstreamer-1.0/$(notdir $(PLUGIN))
	install -D -m 755 $(BUILD)/livestereo $(TO)/bin/livestereo
	install -d $(TO_DOC)
	install -D -m 644 $(BUILD)/livestereo.1 $(TO)/share/man/man1/livestereo.1
	install -m 644 README.md CHANGELOG.md LICENSE $(wildcard LICENSES/*) $(wildcard docs/*.md) \
	    $(TO_DOC)
	for f in $(SHARED); do install -D -m 644 $$f $(TO)/$${f#packaging/} || exit 1; done
endef
uninstall:
	rm -f $(TO_INCLUDE)/livestereo.h $(TO_LIB)/pkgconfig/livestereo.pc
	cd $(TO_LIB) && rm -f $(notdir $(LIBRARIES)) gstreamer-1.0/$(notdir $(PLUGIN))
	rm -f $(TO)/bin/livestereo $(TO)/share/man/man1/livestereo.1
	rm -rf $(TO_DOC)
	cd $(TO) && rm -f $(SHARED:packaging/%=%)

clean:
	rm -rf $(BUILD)

help:
	@echo "all lib install-lib wheel run check check-all bench install uninstall clean deps"
	@echo "dist deb deb-check (packages of Debian: built, installed, tried, removed)"
	@echo "parts of check, each alone: $(CHECKS);  of check-all:"
	@echo "    $(patsubst tsan-all,tsan tsan-gui,$(LONG_CHECKS:asan-fuzz=asan fuzz))"
	@echo "with a GPU: gpu-test;  long: faults soak vm-window"
	@echo "errors on pictures with ground truth: accuracy;  beside the papers': papers"

# The package for Python. A wheel for many systems needs the C library alone, from glibc 2.28 on,
# with CUDA libgcc_s, too. So libyaml is inside, what C++ needs too, and functions have the names of
# then.
# libstdc++ asks glibc 2.32 whether there is one thread: here it is told that there are more.
GLIBC = $(shell $(CC) -print-file-name=libc.so.6) $(shell $(CC) -print-file-name=libm.so.6)
$(WHEEL_SO): $(LIBRARY_OBJECTS) include/exports.map bindings/python/old_glibc.sh $(BUILD)/link.stamp
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)echo 'char __libc_single_threaded;' | $(CC) $(PIC) -x c -c - -o $@.threads
	$(Q)$(CC) -r -nostdlib $(LDFLAGS) -o $@.o $@.threads $(filter %.o,$^) -l:libyaml.a $(CUDA_LIBS) \
	    $(if $(CU),$(shell $(CXX) -print-file-name=libstdc++.a))
	$(Q)link() { $(CC) -shared -pthread -Wl,-soname,$(SO) \
	    -Wl,--version-script=include/exports.map,-z,defs,--no-as-needed,-s $(READ_ONLY) $(LDFLAGS) \
	    $@.o -lm -l:libpthread.so.0 $(if $(CU),-l:libdl.so.2 -l:librt.so.1) -o "$$1"; } && \
	    link $@.new && bindings/python/old_glibc.sh $@.new $(NM) $(GLIBC) >$@.names && \
	    $(OBJCOPY) --redefine-syms=$@.names $@.o && link $@
	@rm -f $@.o $@.threads $@.new $@.names
PYTHON_FILES = $(patsubst bindings/python/%,%,$(wildcard $(addprefix bindings/python/, \
               *.py README.md livestereo/*.py livestereo/py.typed)))
.SILENT: wheel
wheel: $(WHEEL_SO)
	$(if $(filter /usr/bin/python3,$(PYTHON)),tests/packages.sh python3-setuptools python3-wheel)
	$(call say,WHEEL,$(WHEEL))
	rm -rf $(WHEEL)/*.whl $(WHEEL)/build
	for f in $(PYTHON_FILES); do install -D -m 644 bindings/python/$$f $(WHEEL)/$$f || exit 1; done
	sed 's/@VERSION@/$(VERSION)/; s/@README@/README.md/' bindings/python/pyproject.toml.in \
	    >$(WHEEL)/pyproject.toml
	install -m 644 LICENSE $(WHEEL)
	for f in $(wildcard /usr/share/doc/libyaml-dev/copyright); do \
	    install -m 644 $$f $(WHEEL)/LICENSE.libyaml || exit 1; done
	glibc=$$(objdump -T $< | grep -o 'GLIBC_[0-9.]*' | sort -V | tail -n 1) && cd $(WHEEL) && \
	    $(PYTHON) -W ignore setup.py -q bdist_wheel --dist-dir . --plat-name \
	    manylinux_$$(echo "$${glibc#GLIBC_}" | tr . _)_$(firstword $(subst -, ,$(MACHINE)))

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
	$(Q)cp bindings/python/setup.py $(BUILD)/sdist
	$(Q)sed 's/@VERSION@/$(VERSION)/; s,@README@,bindings/python/README.md,' \
	    bindings/python/pyproject.toml.in >$(BUILD)/sdist/pyproject.toml
	$(Q)cd $(BUILD)/sdist && $(PYTHON) -W ignore setup.py -q egg_info && \
	    cp bindings/python/livestereo.egg-info/PKG-INFO . && \
	    rm -r bindings/python/livestereo.egg-info && \
	    find . -type f | tar -cf - $(call IN_TAR,$(DIST)) -T - | gzip -n >../$(DIST).tar.gz
DEBS = livestereo liblivestereo0 liblivestereo-dev python3-livestereo gstreamer1.0-livestereo
deb: $(BUILD)/$(DIST).tar.xz
	@tests/packages.sh $(RUN_PACKAGES) $(DEB_PACKAGES)
	$(Q)rm -rf $(BUILD)/deb && mkdir $(BUILD)/deb && tar -C $(BUILD)/deb -xf $<
	$(call say,DEB,$(BUILD)/deb)
	$(Q)cd $(BUILD)/deb/$(DIST) && env -u MAKEFLAGS -u MFLAGS -u MAKEOVERRIDES -u WERROR \
	    dpkg-buildpackage -us -uc -j$$(nproc) >../build.log 2>&1 || \
	    { tail -n 40 ../build.log; exit 1; }
include tests/checks.mk
-include $(shell find $(BUILD) -maxdepth 3 -name '*.d' 2>/dev/null) $(EMULATED:.o=.d)
