# SPDX-License-Identifier: Apache-2.0
# Libraries that Halyard depends on; scripts/install-deps.sh installs them. Nothing is downloaded
# here.
include(GNUInstallDirs)
find_package(Threads REQUIRED)
set(HALYARD_MISSING "")

# halyard_find(NAME PACKAGE): find_package(NAME). PACKAGE is the Debian package that installs it.
macro(halyard_find name package)
  find_package(${name} QUIET)
  if(NOT ${name}_FOUND)
    list(APPEND HALYARD_MISSING ${package})
  endif()
endmacro()
halyard_find(fmt libfmt-dev)
halyard_find(TBB libtbb-dev)
halyard_find(nlohmann_json nlohmann-json3-dev)
halyard_find(yaml-cpp libyaml-cpp-dev)
halyard_find(Eigen3 libeigen3-dev)
find_package(PkgConfig QUIET)
if(NOT PkgConfig_FOUND)
  message(FATAL_ERROR "There is no pkg-config: run scripts/install-deps.sh native")
endif()

# halyard_pkg(NAME MODULE PACKAGE): an interface library for the pkg-config module of a package.
function(halyard_pkg name module package)
  pkg_check_modules(${name}_pc QUIET IMPORTED_TARGET ${module})
  if(NOT ${name}_pc_FOUND)
    list(APPEND HALYARD_MISSING ${package})
    set(HALYARD_MISSING "${HALYARD_MISSING}" PARENT_SCOPE)
    return()
  endif()
  add_library(${name} INTERFACE)
  target_link_libraries(${name} INTERFACE PkgConfig::${name}_pc)
endfunction()
halyard_pkg(halyard_jpeg libjpeg libjpeg62-turbo-dev)
halyard_pkg(halyard_png spng libspng-dev)
halyard_pkg(halyard_deflate libdeflate libdeflate-dev)
halyard_pkg(halyard_zlib zlib zlib1g-dev)
halyard_pkg(halyard_freetype freetype2 libfreetype-dev)
halyard_pkg(halyard_hwy libhwy libhwy-dev)
if(HALYARD_MISSING)
  list(JOIN HALYARD_MISSING " " missing)
  message(FATAL_ERROR "Libraries that Halyard stands on are not installed. On Debian: run "
                      "scripts/install-deps.sh native, or apt-get install ${missing}")
endif()
set(HALYARD_HWY halyard_hwy)

# Inference runtimes are built as separate shared objects (halyard_openvino_object below).
set(HALYARD_EXCLUDE_SOURCES "/src/model/openvino/|/src/capture/libcamera/")
set(HALYARD_REPORT "")

# If libjpeg-turbo's jpegint.h is installed, as on Debian, our Huffman decoder replaces that of
# libjpeg-turbo. Without it, or with -DHALYARD_HAVE_JPEGINT=OFF, libjpeg-turbo decodes alone.
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_LIBRARIES PkgConfig::halyard_jpeg_pc)
check_cxx_source_compiles("
#include <cstddef>
#include <cstdio>
#include <jpeglib.h>
#include <jpegint.h>
#if JPEG_LIB_VERSION < 62 || JPEG_LIB_VERSION > 80
#error another libjpeg
#endif
#if LIBJPEG_TURBO_VERSION_NUMBER < 2000000 || LIBJPEG_TURBO_VERSION_NUMBER >= 4000000
#error another libjpeg-turbo
#endif
boolean decode(j_decompress_ptr, JBLOCKROW*) { return TRUE; }
void replace(j_decompress_ptr codec) {
  codec->entropy->decode_mcu = decode;
  codec->marker->next_restart_num = codec->inputctl->has_multiple_scans;
}
int main() {}" HALYARD_HAVE_JPEGINT)
unset(CMAKE_REQUIRED_LIBRARIES)
if(HALYARD_HAVE_JPEGINT)
  target_compile_definitions(halyard_jpeg INTERFACE HALYARD_HAVE_JPEGINT=1)
else()
  list(APPEND HALYARD_REPORT "JPEG: Huffman codes by libjpeg-turbo (without jpegint.h)")
endif()

if(HALYARD_QUICK)
  list(APPEND HALYARD_REPORT "quick: the program alone, for the processor of this machine")
endif()

# HALYARD_MODEL: the OpenVINO wheel contains headers, libraries and a CMake package. Its headers
# include a copy of TBB, so they come after the system's (-idirafter).
set(HALYARD_ENGINE_LIBS "")
set(HALYARD_ENGINE_RPATH "")
if(NOT HALYARD_MODEL STREQUAL "OFF")
  file(GLOB openvino_hints ${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/openvino/cmake)
  find_package(OpenVINO QUIET HINTS ${openvino_hints})
  if(OpenVINO_FOUND)
    get_target_property(openvino_include openvino::runtime INTERFACE_INCLUDE_DIRECTORIES)
    get_target_property(openvino_lib openvino::runtime IMPORTED_LOCATION_RELEASE)
    get_filename_component(openvino_libdir ${openvino_lib} DIRECTORY)
    add_library(halyard_openvino INTERFACE)
    foreach(dir ${openvino_include})
      target_compile_options(halyard_openvino INTERFACE "SHELL:-idirafter ${dir}")
    endforeach()
    if(HALYARD_SANITIZE MATCHES undefined)
      # Its frontends hide the type information of some of its classes.
      target_compile_options(halyard_openvino INTERFACE -fno-sanitize=vptr)
    endif()
    # Linked by name, so that CMake does not compare the folder's TBB with the system's. In the
    # build folder the engine's TBB comes first: the engine was built with it, and it is newer.
    get_filename_component(openvino_file ${openvino_lib} NAME)
    target_link_libraries(halyard_openvino INTERFACE -L${openvino_libdir} -l:${openvino_file})
    add_library(halyard_engine INTERFACE)
    target_compile_definitions(halyard_engine INTERFACE HALYARD_HAVE_OPENVINO=1
                               HALYARD_OPENVINO_FILE="${openvino_file}")
    set(HALYARD_ENGINE_RPATH ${openvino_libdir})
    set(HALYARD_ENGINE_LIBS halyard_engine)
    list(APPEND HALYARD_REPORT "inference: OpenVINO ${OpenVINO_VERSION} (${openvino_libdir})")
  elseif(HALYARD_MODEL STREQUAL "ON")
    message(FATAL_ERROR "HALYARD_MODEL=ON but OpenVINO was not found: run "
                        "scripts/install-deps.sh model, or set OpenVINO_DIR to the folder of "
                        "OpenVINOConfig.cmake")
  else()
    list(APPEND HALYARD_REPORT "inference: none (scripts/install-deps.sh model)")
  endif()
endif()

# Installed files search for libraries only in their own prefix, so that users who may write to the
# engine's folder cannot change what an installed program loads. In the build folder the libraries
# are found at their original paths.
set(CMAKE_BUILD_RPATH ${HALYARD_ENGINE_RPATH})
cmake_path(IS_ABSOLUTE CMAKE_INSTALL_LIBDIR libdir_is_absolute)
if(libdir_is_absolute)
  set(CMAKE_INSTALL_RPATH ${CMAKE_INSTALL_LIBDIR})
else()
  set(CMAKE_INSTALL_RPATH $ORIGIN/../${CMAKE_INSTALL_LIBDIR})
endif()

# HALYARD_VIDEO: FFmpeg's headers. Its libraries are loaded when the first video is opened
# (src/capture/ffmpeg/ffmpeg_calls.h), so only tests link them, by halyard_ffmpeg.
set(HALYARD_VIDEO_LIBS "")
if(NOT HALYARD_VIDEO STREQUAL "OFF")
  pkg_check_modules(halyard_ffmpeg_pc QUIET IMPORTED_TARGET libavformat libavcodec libavutil)
  if(halyard_ffmpeg_pc_FOUND)
    add_library(halyard_ffmpeg INTERFACE)
    target_link_libraries(halyard_ffmpeg INTERFACE PkgConfig::halyard_ffmpeg_pc)
    add_library(halyard_video INTERFACE)
    target_compile_definitions(halyard_video INTERFACE HALYARD_HAVE_FFMPEG=1)
    target_include_directories(halyard_video SYSTEM INTERFACE
      $<TARGET_PROPERTY:PkgConfig::halyard_ffmpeg_pc,INTERFACE_INCLUDE_DIRECTORIES>)
    set(HALYARD_VIDEO_LIBS halyard_video)
    # openh264's header; the library is loaded when FFmpeg has no encoder of H.264.
    find_path(HALYARD_OPENH264_INCLUDE wels/codec_api.h)
    mark_as_advanced(HALYARD_OPENH264_INCLUDE)
    if(HALYARD_OPENH264_INCLUDE)
      target_compile_definitions(halyard_video INTERFACE HALYARD_HAVE_OPENH264=1)
    endif()
    list(APPEND HALYARD_REPORT "video: FFmpeg libavformat ${halyard_ffmpeg_pc_libavformat_VERSION}")
  elseif(HALYARD_VIDEO STREQUAL "ON")
    message(FATAL_ERROR "HALYARD_VIDEO=ON but FFmpeg was not found: install libavformat-dev, "
                        "libavcodec-dev and libavutil-dev")
  else()
    list(APPEND HALYARD_REPORT "video: none (install libavformat-dev libavcodec-dev)")
  endif()
endif()

# HALYARD_GL: libepoxy, which finds EGL and OpenGL ES when the first context is made. Without it,
# src/gl holds only the functions that report so.
set(HALYARD_GL_LIBS "")
set(HALYARD_HAVE_GL OFF)
if(NOT HALYARD_GL STREQUAL "OFF")
  pkg_check_modules(halyard_epoxy_pc QUIET IMPORTED_TARGET epoxy)
  if(halyard_epoxy_pc_FOUND)
    set(HALYARD_HAVE_GL ON)
    add_library(halyard_epoxy INTERFACE)
    target_link_libraries(halyard_epoxy INTERFACE PkgConfig::halyard_epoxy_pc)
    target_compile_definitions(halyard_epoxy INTERFACE HALYARD_HAVE_GL=1)
    set(HALYARD_GL_LIBS halyard_epoxy)
    list(APPEND HALYARD_REPORT "opengl: libepoxy ${halyard_epoxy_pc_VERSION}")
  elseif(HALYARD_GL STREQUAL "ON")
    message(FATAL_ERROR "HALYARD_GL=ON but libepoxy was not found: install libepoxy-dev")
  else()
    list(APPEND HALYARD_REPORT "opengl: none (install libepoxy-dev)")
  endif()
endif()
if(NOT HALYARD_HAVE_GL)
  string(APPEND HALYARD_EXCLUDE_SOURCES "|/src/gl/(display|memory|program)/|/src/(image|draw)/gl/")
endif()

# Image formats other than JPEG, PNG and BMP. halyard_image_format(NAME PACKAGE MODULE...): uses the
# pkg-config modules of Debian's PACKAGE, if HALYARD_NAME allows it; GIF has no module.
set(HALYARD_IMAGE_FORMAT_LIBS "")
set(HALYARD_IMAGE_FORMATS "JPEG PNG BMP")
function(halyard_image_format name package)
  if(HALYARD_${name} STREQUAL "OFF")
    return()
  endif()
  string(TOLOWER halyard_${name} target)
  add_library(${target} INTERFACE)
  if(ARGN)
    pkg_check_modules(${target}_pc QUIET IMPORTED_TARGET ${ARGN})
    set(found ${${target}_pc_FOUND})
    set(libs PkgConfig::${target}_pc)
  else()
    find_package(${name} QUIET)
    set(found ${${name}_FOUND})
    set(libs ${name}::${name})
  endif()
  if(found)
    target_link_libraries(${target} INTERFACE ${libs})
    target_compile_definitions(${target} INTERFACE HALYARD_HAVE_${name}=1)
    set(HALYARD_IMAGE_FORMAT_LIBS ${HALYARD_IMAGE_FORMAT_LIBS} ${target} PARENT_SCOPE)
    set(HALYARD_IMAGE_FORMATS "${HALYARD_IMAGE_FORMATS} ${name}" PARENT_SCOPE)
  elseif(HALYARD_${name} STREQUAL "ON")
    message(FATAL_ERROR "HALYARD_${name}=ON but its library was not found: install ${package}")
  endif()
endfunction()
halyard_image_format(WEBP libwebp-dev libwebp libwebpdemux libwebpmux)
halyard_image_format(TIFF libtiff-dev libtiff-4>=4.5)
halyard_image_format(GIF libgif-dev)
list(APPEND HALYARD_REPORT "images: ${HALYARD_IMAGE_FORMATS}")

# Boost.Beast, of which only headers are used, serves the page of `halyard serve`.
# HALYARD_TLS: OpenSSL, for `halyard serve --cert`.
set(HALYARD_SERVE_LIBS "")
if(HALYARD_TOOLS OR HALYARD_TESTS)
  find_package(Boost 1.74 QUIET)
  if(Boost_FOUND)
    set(HALYARD_SERVE_LIBS halyard_beast)
    add_library(halyard_beast INTERFACE)
    target_link_libraries(halyard_beast INTERFACE Boost::headers Threads::Threads)
    target_compile_definitions(halyard_beast INTERFACE BOOST_ASIO_NO_DEPRECATED)
    # ThreadSanitizer knows no fences. Here Asio's mutexes order what passes between threads.
    if(HALYARD_SANITIZE STREQUAL "thread")
      target_compile_definitions(halyard_beast INTERFACE BOOST_ASIO_DISABLE_FENCED_BLOCK)
    endif()
  elseif(HALYARD_TOOLS)
    message(FATAL_ERROR "Boost 1.74 or later was not found: install libboost-dev, or set "
                        "HALYARD_TOOLS=OFF")
  endif()
endif()
if(TARGET halyard_beast AND NOT HALYARD_TLS STREQUAL "OFF")
  pkg_check_modules(halyard_openssl_pc QUIET IMPORTED_TARGET openssl>=3)
  if(halyard_openssl_pc_FOUND)
    target_link_libraries(halyard_beast INTERFACE PkgConfig::halyard_openssl_pc)
    target_compile_definitions(halyard_beast INTERFACE HALYARD_HAVE_OPENSSL=1)
    list(APPEND HALYARD_REPORT "tls: OpenSSL ${halyard_openssl_pc_VERSION}")
  elseif(HALYARD_TLS STREQUAL "ON")
    message(FATAL_ERROR "HALYARD_TLS=ON but OpenSSL 3 was not found: install libssl-dev")
  else()
    list(APPEND HALYARD_REPORT "tls: none (install libssl-dev)")
  endif()
endif()

# HALYARD_LIBCAMERA: a plugin beside the library, which does not depend on it. Debian 12 itself has
# 0.0.3, which is too old.
if(NOT HALYARD_LIBCAMERA STREQUAL "OFF" AND NOT HALYARD_QUICK)
  pkg_check_modules(halyard_libcamera_pc QUIET IMPORTED_TARGET libcamera>=0.3)
  if(halyard_libcamera_pc_FOUND)
    add_library(halyard_libcamera INTERFACE)
    target_link_libraries(halyard_libcamera INTERFACE PkgConfig::halyard_libcamera_pc)
    list(APPEND HALYARD_REPORT "cameras: V4L2, libcamera ${halyard_libcamera_pc_VERSION}")
  elseif(HALYARD_LIBCAMERA STREQUAL "ON")
    message(FATAL_ERROR "HALYARD_LIBCAMERA=ON but libcamera >= 0.3 was not found: run "
                        "scripts/install-deps.sh libcamera")
  else()
    list(APPEND HALYARD_REPORT "cameras: V4L2 (libcamera: scripts/install-deps.sh libcamera)")
  endif()
endif()

function(halyard_summary)
  message(STATUS "Halyard ${PROJECT_VERSION} ${CMAKE_BUILD_TYPE}")
  foreach(line ${HALYARD_REPORT})
    message(STATUS "  ${line}")
  endforeach()
endfunction()
