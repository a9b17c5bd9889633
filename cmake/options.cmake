# SPDX-License-Identifier: Apache-2.0
# Build options. If Halyard is part of another build, only the library is built.
set(HALYARD_MODEL AUTO CACHE STRING "Inference through OpenVINO: AUTO, ON, OFF")
set(HALYARD_VIDEO AUTO CACHE STRING "Video files through FFmpeg: AUTO, ON, OFF")
set(HALYARD_GL AUTO CACHE STRING "OpenGL ES through libepoxy: AUTO, ON, OFF")
set(HALYARD_WEBP AUTO CACHE STRING "WebP images through libwebp: AUTO, ON, OFF")
set(HALYARD_TIFF AUTO CACHE STRING "TIFF images through libtiff: AUTO, ON, OFF")
set(HALYARD_GIF AUTO CACHE STRING "GIF images through giflib: AUTO, ON, OFF")
set(HALYARD_TLS AUTO CACHE STRING "TLS of halyard serve through OpenSSL: AUTO, ON, OFF")
set(HALYARD_LIBCAMERA AUTO CACHE STRING "The plugin of libcamera's cameras: AUTO, ON, OFF")
foreach(option HALYARD_MODEL HALYARD_VIDEO HALYARD_GL HALYARD_WEBP HALYARD_TIFF HALYARD_GIF
        HALYARD_TLS HALYARD_LIBCAMERA)
  set_property(CACHE ${option} PROPERTY STRINGS AUTO ON OFF)
endforeach()
option(HALYARD_TOOLS "The command-line program" ${PROJECT_IS_TOP_LEVEL})
option(HALYARD_EXAMPLES "The example programs" ${PROJECT_IS_TOP_LEVEL})
option(HALYARD_TESTS "The tests" ${PROJECT_IS_TOP_LEVEL})
option(HALYARD_PYTHON "The Python package" OFF)
option(HALYARD_BENCH "The benchmarks" OFF)
option(HALYARD_FUZZ "Fuzz targets (clang only)" OFF)
option(HALYARD_WERROR "Warnings are errors" OFF)
option(HALYARD_HARDENING "Stack protector, checked string functions, full RELRO and their kin" ON)
option(HALYARD_PCH "Precompile headers that many sources include" ON)
option(HALYARD_TEST_PCH "Precompile headers for the tests" ${HALYARD_PCH})
# Halves the time of a whole build; a change of one source compiles its whole group again. Off,
# every source must include what it uses.
option(HALYARD_UNITY "Compile up to twelve sources of a target as one" OFF)
# Used by `make demo`: builds only the program, for this machine's processor, in a third of the
# time.
option(HALYARD_QUICK "The program alone, compiled fast for this machine; not to be installed" OFF)
option(HALYARD_COVERAGE "Instrument for line coverage" OFF)
set(HALYARD_SANITIZE "" CACHE STRING "Sanitizers, for example address,undefined or thread")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(HALYARD_QUICK)
  foreach(part TESTS PYTHON BENCH FUZZ)
    if(HALYARD_${part})
      message(FATAL_ERROR "HALYARD_QUICK builds the program alone: set HALYARD_${part}=OFF, or "
                          "HALYARD_QUICK=OFF")
    endif()
  endforeach()
  # Loops over pixels use explicit vectors, which need no more optimisation than this. Results are
  # the same: kernels are compiled once, for the best instruction set, instead of once for each set.
  set(CMAKE_CXX_FLAGS_RELEASE "-O1 -DNDEBUG")
  # At -O1 the compiler cannot see that some variables are always set.
  add_compile_options(-march=native -Wno-maybe-uninitialized)
  add_compile_definitions(HWY_COMPILE_ONLY_STATIC)
endif()

find_program(HALYARD_CCACHE ccache)
if(HALYARD_CCACHE AND NOT HALYARD_QUICK AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros ${HALYARD_CCACHE})
endif()

add_library(halyard_flags INTERFACE)
target_compile_options(halyard_flags INTERFACE -Wall -Wextra -Wconversion
                       $<$<BOOL:${HALYARD_WERROR}>:-Werror>)
# The compiler collects its garbage only above 512 MiB, where it would begin at 128: one collection
# walks all precompiled headers.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  target_compile_options(halyard_flags INTERFACE
                         $<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=524288>)
endif()
# Required by ccache for precompiled headers.
if((HALYARD_PCH OR HALYARD_TEST_PCH) AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  target_compile_options(halyard_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
endif()
# Kernels need vectors of known size, so the scalable sets are excluded, and so is the set of
# processors before 2008. Instrumented builds use only a few sets that this machine can run, because
# all sets compile the same source. The thread sanitizer needs only the smallest one.
set(HALYARD_NO_KERNELS HWY_SVE|HWY_SVE2|HWY_SVE_256|HWY_SVE2_128|HWY_RVV|HWY_SSSE3)
if(HALYARD_SANITIZE)
  string(APPEND HALYARD_NO_KERNELS |HWY_SSE4|HWY_AVX3_DL)
  set(avx512)
  if(EXISTS /proc/cpuinfo)
    file(STRINGS /proc/cpuinfo avx512 REGEX "^flags.*avx512bw" LIMIT_COUNT 1)
  endif()
  if(NOT avx512 OR HALYARD_SANITIZE STREQUAL thread)
    string(APPEND HALYARD_NO_KERNELS |HWY_AVX3)
  endif()
  if(HALYARD_SANITIZE STREQUAL thread)
    string(APPEND HALYARD_NO_KERNELS |HWY_AVX2)
  endif()
endif()
target_compile_definitions(halyard_flags INTERFACE "HWY_DISABLED_TARGETS=(${HALYARD_NO_KERNELS})")
# Tests index with plain ints, which clang reports under -Wconversion. Must be linked after
# halyard_flags.
add_library(halyard_test_flags INTERFACE)
target_compile_options(halyard_test_flags INTERFACE -Wno-sign-conversion)
# For tests and the program: arithmetic is checked only in the library. Must be linked after
# halyard_flags: later flags win.
add_library(halyard_unwatched INTERFACE)
if(HALYARD_SANITIZE)
  target_compile_options(halyard_flags INTERFACE -fsanitize=${HALYARD_SANITIZE}
                         -fno-omit-frame-pointer -fno-sanitize-recover=all)
  # These checks take a quarter of the compile time and find only what AddressSanitizer, or a crash
  # at the null address, shows too.
  if(HALYARD_SANITIZE MATCHES undefined)
    target_compile_options(halyard_flags INTERFACE -fno-sanitize=null,object-size,vptr)
    target_compile_options(halyard_unwatched INTERFACE -fno-sanitize=undefined)
  endif()
  target_link_options(halyard_flags INTERFACE -fsanitize=${HALYARD_SANITIZE})
endif()
if(HALYARD_COVERAGE)
  target_compile_options(halyard_flags INTERFACE --coverage -fprofile-update=atomic)
  target_link_options(halyard_flags INTERFACE --coverage)
endif()
