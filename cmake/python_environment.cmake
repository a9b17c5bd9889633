# SPDX-License-Identifier: Apache-2.0
# halyard_python_environment(VARIABLE): the environment that Python needs to import the package from
# the build folder.
function(halyard_python_environment variable)
  # Programs that tests start keep the package's bytecode in the build folder.
  set(environment "PYTHONPATH=${PROJECT_BINARY_DIR}/python" PYTHONDONTWRITEBYTECODE=)
  if(HALYARD_SANITIZE MATCHES address)
    # The interpreter is not instrumented, so the run-time is preloaded, with the C++ library whose
    # exceptions it intercepts. Memory that the interpreter keeps at its end is not a leak of ours.
    # The quarantine is small, because tests measure the memory in use.
    foreach(library libasan.so libstdc++.so.6)
      execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=${library}
                      OUTPUT_VARIABLE path OUTPUT_STRIP_TRAILING_WHITESPACE)
      list(APPEND preload ${path})
    endforeach()
    list(JOIN preload " " preload)
    list(APPEND environment "LD_PRELOAD=${preload}"
         ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:quarantine_size_mb=1
         TBB_ENABLE_SANITIZERS=1)
  endif()
  set(${variable} "${environment}" PARENT_SCOPE)
endfunction()
