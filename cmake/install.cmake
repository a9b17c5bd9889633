# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` installs: the library, its headers, CMake package and pkg-config file.
# Components: runtime (to run programs), development (to build programs), tools, libcamera (the
# plugin of its cameras), and on request
# compat: the names that programs for EdgeFirst HAL use.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/halyard)

install(TARGETS halyard EXPORT halyard-targets
        LIBRARY COMPONENT runtime NAMELINK_COMPONENT development)
if(TARGET halyard_openvino_object)
  install(TARGETS halyard_openvino_object
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/halyard COMPONENT runtime)
endif()
# By its own component: a package of it depends on libcamera.
if(TARGET halyard_libcamera_object)
  install(TARGETS halyard_libcamera_object
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/halyard/cameras COMPONENT libcamera)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        COMPONENT development FILES_MATCHING PATTERN "*.h" PATTERN edgefirst EXCLUDE)
install(EXPORT halyard-targets NAMESPACE halyard:: DESTINATION ${package_dir}
        COMPONENT development)

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/halyard-config.cmake.in
  ${PROJECT_BINARY_DIR}/halyard-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/halyard-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/halyard-config.cmake
              ${PROJECT_BINARY_DIR}/halyard-config-version.cmake
        DESTINATION ${package_dir} COMPONENT development)

# The prefix in halyard.pc is relative to the file, so that an installed tree can be moved.
cmake_path(IS_ABSOLUTE CMAKE_INSTALL_LIBDIR libdir_is_absolute)
if(libdir_is_absolute)
  set(HALYARD_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
  set(HALYARD_PC_LIBDIR ${CMAKE_INSTALL_LIBDIR})
else()
  cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX
             BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/pkgconfig
             OUTPUT_VARIABLE up)
  set(HALYARD_PC_PREFIX "\${pcfiledir}/${up}")
  set(HALYARD_PC_LIBDIR "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
endif()
configure_file(${PROJECT_SOURCE_DIR}/cmake/halyard.pc.in ${PROJECT_BINARY_DIR}/halyard.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/halyard.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT development)

configure_file(${PROJECT_SOURCE_DIR}/cmake/edgefirst-hal.pc.in
               ${PROJECT_BINARY_DIR}/edgefirst-hal.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/edgefirst-hal.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT compat EXCLUDE_FROM_ALL)
install(FILES ${PROJECT_SOURCE_DIR}/include/edgefirst/hal.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/edgefirst COMPONENT compat EXCLUDE_FROM_ALL)
