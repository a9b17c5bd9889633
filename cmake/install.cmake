# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where: the library, its headers, CMake package and pkg-config file.
include(CMakePackageConfigHelpers)
install(TARGETS halyard EXPORT halyard-targets)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/halyard DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT halyard-targets NAMESPACE halyard:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/halyard)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/halyard-config.cmake.in
  ${PROJECT_BINARY_DIR}/halyard-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/halyard)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/halyard-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/halyard-config.cmake
  ${PROJECT_BINARY_DIR}/halyard-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/halyard)
configure_file(${PROJECT_SOURCE_DIR}/cmake/halyard.pc.in ${PROJECT_BINARY_DIR}/halyard.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/halyard.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
