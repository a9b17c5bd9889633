# SPDX-License-Identifier: Apache-2.0
# One object library per layer, one shared library from all of them, one test program per layer.
set_property(GLOBAL PROPERTY HALYARD_LAYERS "")

# Floats have the same bits on every processor: the compiler must not fuse our multiplies and adds.
set(HALYARD_FLOATS -ffp-contract=off)

# halyard_precompiled(TARGET ...): TARGET only precompiles the given headers, once for all targets
# of its kind. halyard_precompile(TARGET FROM): TARGET uses the headers of FROM.
function(halyard_precompiled target)
  file(WRITE ${PROJECT_BINARY_DIR}/empty.cpp "")
  target_sources(${target} PRIVATE ${PROJECT_BINARY_DIR}/empty.cpp)
  target_precompile_headers(${target} PRIVATE ${ARGN})
endfunction()
function(halyard_precompile target from)
  if(TARGET ${from})
    target_precompile_headers(${target} REUSE_FROM ${from})
  endif()
endfunction()
if(HALYARD_PCH)
  add_library(halyard_headers OBJECT)
  halyard_precompiled(halyard_headers <algorithm> <array> <cmath> <cstdint> <cstring> <functional>
                      <limits> <map> <memory> <mutex> <optional> <span> <string> <string_view>
                      <tuple> <utility> <variant> <vector> <fmt/format.h>
                      <halyard/tensor.h> <base/text/format_error.h>)
  target_include_directories(halyard_headers PRIVATE ${PROJECT_SOURCE_DIR}/include
                             ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(halyard_headers PRIVATE halyard_flags fmt::fmt)
  # GCC takes this option from the precompiled header, not from the command line.
  target_compile_options(halyard_headers PRIVATE ${HALYARD_FLOATS})
endif()

# With HALYARD_UNITY the target's sources are compiled in groups, but for those that include
# themselves once per instruction set and those that use an enumeration's names as their own.
function(halyard_unity target)
  if(NOT HALYARD_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
  # A source may have members of anonymous types; GCC warns of them in what it takes for a header.
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  foreach(source ${sources})
    if(EXISTS ${source})
      file(STRINGS ${source} alone REGEX "hwy/foreach_target.h|^using enum " LIMIT_COUNT 1)
      if(alone)
        set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
      endif()
    endif()
  endforeach()
endfunction()

# halyard_layer(NAME [DEPS layer...] [LIBS target...]): all src/NAME/**.cpp belong to the layer.
function(halyard_layer name)
  cmake_parse_arguments(arg "" "" "DEPS;LIBS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "${HALYARD_EXCLUDE_SOURCES}")
  if(NOT sources)
    file(WRITE ${PROJECT_BINARY_DIR}/empty.cpp "")
    set(sources ${PROJECT_BINARY_DIR}/empty.cpp)
  endif()
  add_library(halyard_${name} OBJECT ${sources})
  target_include_directories(halyard_${name} PUBLIC ${PROJECT_SOURCE_DIR}/include
                             PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(halyard_${name} PRIVATE halyard_flags fmt::fmt ${arg_LIBS})
  target_compile_options(halyard_${name} PRIVATE ${HALYARD_FLOATS})
  halyard_precompile(halyard_${name} halyard_headers)
  halyard_unity(halyard_${name})
  if(HALYARD_SANITIZE)
    halyard_light_kernels(${sources})
  endif()
  foreach(dep ${arg_DEPS})
    list(APPEND closure ${dep} ${HALYARD_CLOSURE_${dep}})
  endforeach()
  list(REMOVE_DUPLICATES closure)
  set(HALYARD_CLOSURE_${name} "${closure}" PARENT_SCOPE)
  set_property(GLOBAL APPEND PROPERTY HALYARD_LAYERS ${name})
  set_property(GLOBAL PROPERTY HALYARD_LIBS_${name} "${arg_LIBS}")
endfunction()

# Instrumented kernels take minutes to compile, because each vector is an object with its own scope.
function(halyard_light_kernels)
  foreach(source ${ARGN})
    file(STRINGS ${source} kernel REGEX "hwy/foreach_target.h" LIMIT_COUNT 1)
    if(kernel)
      set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS
        "-fno-sanitize-address-use-after-scope")
    endif()
  endforeach()
endfunction()

# Links the objects of the given layers, and of those below them, into a target. For tests,
# benchmarks and fuzz targets, which use private headers.
function(halyard_link_layers target)
  set(layers ${ARGN})
  foreach(layer ${ARGN})
    list(APPEND layers ${HALYARD_CLOSURE_${layer}})
  endforeach()
  list(REMOVE_DUPLICATES layers)
  foreach(layer ${layers})
    get_property(libs GLOBAL PROPERTY HALYARD_LIBS_${layer})
    target_link_libraries(${target} PRIVATE halyard_${layer} ${libs})
  endforeach()
  target_link_libraries(${target} PRIVATE halyard_flags halyard_test_flags)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src
                             ${PROJECT_SOURCE_DIR}/tests)
endfunction()

# The exported library, halyard::halyard.
function(halyard_library)
  get_property(layers GLOBAL PROPERTY HALYARD_LAYERS)
  # The program calls neither of these, Python no C.
  set(unused)
  if(HALYARD_QUICK)
    set(unused compat capi)
  elseif(DEFINED SKBUILD)
    set(unused capi)
  endif()
  foreach(layer ${unused})
    list(REMOVE_ITEM layers ${layer})
    set_target_properties(halyard_${layer} PROPERTIES EXCLUDE_FROM_ALL ON)
  endforeach()
  add_library(halyard SHARED)
  add_library(halyard::halyard ALIAS halyard)
  # Before 1.0 every minor version may change the binary interface, so it is part of the soname.
  set_target_properties(halyard PROPERTIES VERSION ${PROJECT_VERSION} LINKER_LANGUAGE CXX
                        SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_include_directories(halyard PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                             $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(halyard PUBLIC cxx_std_20)
  foreach(layer ${layers})
    get_property(libs GLOBAL PROPERTY HALYARD_LIBS_${layer})
    target_sources(halyard PRIVATE $<TARGET_OBJECTS:halyard_${layer}>)
    target_link_libraries(halyard PRIVATE ${libs})
  endforeach()
  target_link_libraries(halyard PRIVATE $<BUILD_INTERFACE:halyard_flags>)
  # The library calls its own functions directly and not through a table that a program could
  # redirect. The program start has fewer names to look up, and a first call fetches fewer cache
  # lines.
  target_link_options(halyard PRIVATE -Wl,--no-undefined -Wl,--as-needed
                      -Wl,-Bsymbolic-functions)
  if(HALYARD_SANITIZE)
    set_target_properties(halyard PROPERTIES LINK_OPTIONS "")
  endif()
  set_target_properties(halyard PROPERTIES INSTALL_RPATH "")
  # Also in instrumented builds: the C interface has functions in two versions.
  set(exports ${PROJECT_SOURCE_DIR}/cmake/exports.map)
  target_link_options(halyard PRIVATE -Wl,--version-script=${exports})
  set_target_properties(halyard PROPERTIES LINK_DEPENDS ${exports})
endfunction()

# The inference runtime, loaded when the first model is opened. It finds OpenVINO by the usual
# library search, by HALYARD_OPENVINO_DIR at run time, or by the build option below.
set(HALYARD_OPENVINO_RPATH "" CACHE STRING
    "Folder of OpenVINO's libraries that the installed runtime object looks in first")
function(halyard_openvino_object)
  if(NOT TARGET halyard_openvino)
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/model/openvino/*.cpp)
  add_library(halyard_openvino_object MODULE ${sources}
              ${PROJECT_SOURCE_DIR}/src/model/one_line.cpp)
  set_target_properties(halyard_openvino_object PROPERTIES OUTPUT_NAME halyard_openvino
                        INSTALL_RPATH "${HALYARD_OPENVINO_RPATH}")
  target_include_directories(halyard_openvino_object PRIVATE ${PROJECT_SOURCE_DIR}/include
                             ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(halyard_openvino_object PRIVATE halyard_flags halyard_openvino)
  if(NOT HALYARD_SANITIZE)
    target_link_options(halyard_openvino_object PRIVATE -Wl,--no-undefined -Wl,--as-needed)
  endif()
  add_dependencies(halyard halyard_openvino_object)
endfunction()

# The plugin of libcamera, built against the one that is installed. In the build folder it is where
# no program looks by itself: HALYARD_CAMERA_PLUGINS names it.
function(halyard_libcamera_object)
  if(NOT TARGET halyard_libcamera)
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/capture/libcamera/*.cpp)
  add_library(halyard_libcamera_object MODULE ${sources})
  set_target_properties(halyard_libcamera_object PROPERTIES
    PREFIX "" OUTPUT_NAME libcamera INSTALL_RPATH ""
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/plugins/cameras)
  target_include_directories(halyard_libcamera_object PRIVATE ${PROJECT_SOURCE_DIR}/include
                             ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(halyard_libcamera_object PRIVATE halyard_flags halyard_libcamera)
  if(NOT HALYARD_SANITIZE)
    target_link_options(halyard_libcamera_object PRIVATE -Wl,--no-undefined -Wl,--as-needed)
  endif()
endfunction()
