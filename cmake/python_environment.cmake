# SPDX-License-Identifier: Apache-2.0
# halyard_python_environment(VARIABLE): what a process of Python needs to import the package of the
# build folder.
function(halyard_python_environment variable)
  set(environment "PYTHONPATH=${PROJECT_BINARY_DIR}/python" PYTHONDONTWRITEBYTECODE=1)
  if(HALYARD_SANITIZE MATCHES address)
    # The interpreter is not instrumented: the run-time comes before it, with the library whose
    # exceptions it watches. What an interpreter leaves behind at its end is no leak of ours, and
    # what is freed is not kept for long, for tests look at the memory in use.
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
