# SPDX-License-Identifier: Apache-2.0
# Flags that make memory errors harder to exploit, for all code of this build: library, program,
# Python extension, examples, tests. Instrumented builds have checks of their own and use only the
# assertions of the C++ library. For the cost of the flags see docs/performance.md.
include(CheckCXXCompilerFlag)
include(CheckCXXSourceCompiles)
include(CheckLinkerFlag)
include(CheckPIESupported)

# The C++ library checks indices in builds where speed does not matter. tests/CMakeLists.txt enables
# this too.
if(HALYARD_SANITIZE)
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
  return()
endif()
add_compile_definitions($<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS>)
if(NOT HALYARD_HARDENING)
  return()
endif()

# halyard_harden(FLAG): compiles with FLAG if the compiler supports it.
function(halyard_harden flag)
  string(MAKE_C_IDENTIFIER "HALYARD_HAS${flag}" known)
  set(CMAKE_REQUIRED_FLAGS -Werror)
  check_cxx_compiler_flag(${flag} ${known})
  if(${known})
    add_compile_options(${flag})
  endif()
endfunction()
halyard_harden(-fstack-protector-strong)
halyard_harden(-fstack-clash-protection)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  halyard_harden(-fcf-protection=full)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  halyard_harden(-mbranch-protection=standard)
endif()

# Level 3 needs __builtin_dynamic_object_size; without it, glibc prints a warning for each file.
# Without optimisation there are no checked versions at all.
set(CMAKE_REQUIRED_FLAGS "-O2 -Werror -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3")
check_cxx_source_compiles("#include <cstring>
int main(int count, char**) { char to[8]; std::memset(to, count, sizeof(to)); return to[0]; }"
  HALYARD_HAS_FORTIFY_3)
set(CMAKE_REQUIRED_FLAGS)
set(level 2)
if(HALYARD_HAS_FORTIFY_3)
  set(level 3)
endif()
add_compile_options(
  "$<$<NOT:$<CONFIG:Debug>>:SHELL:-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=${level}>")

# Programs are loaded at random addresses.
check_pie_supported(LANGUAGES C CXX)

function(halyard_harden_link flag)
  string(MAKE_C_IDENTIFIER "HALYARD_LINKS${flag}" known)
  check_linker_flag(CXX ${flag} ${known})
  if(${known})
    add_link_options(${flag})
  endif()
endfunction()
halyard_harden_link(-Wl,-z,relro)
halyard_harden_link(-Wl,-z,now)
halyard_harden_link(-Wl,-z,noexecstack)

# The linker marks a file as ready for control-flow enforcement if all its objects are. Some
# systems' crti.o is not, only because of the entry _init(); this does not affect a shadow stack.
# Our shared objects need neither _init() nor _fini(), so both are set to a name that does not exist
# (the linker ignores it). They are never called, and the rest is ready. tests/package/hardening.py
# checks objects and files.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND HALYARD_HAS_fcf_protection_full)
  halyard_harden_link(-Wl,-z,shstk)
  check_linker_flag(CXX -Wl,-z,ibt HALYARD_LINKS_Wl__z_ibt)
  if(HALYARD_LINKS_Wl__z_ibt)
    set(shared $<IN_LIST:$<TARGET_PROPERTY:TYPE>,SHARED_LIBRARY$<SEMICOLON>MODULE_LIBRARY>)
    add_link_options("$<${shared}:-Wl,-z,ibt,-init=halyard_no_entry,-fini=halyard_no_entry>")
  endif()
endif()
