// SPDX-License-Identifier: Apache-2.0
// Errors of libjpeg, which leaves its functions by longjmp, turned into Error. The only setjmp.
#pragma once

#include <csetjmp>
#include <cstddef>
#include <cstdio>
// jpeglib.h needs the two above.
#include <jpeglib.h>

#include "halyard/result.h"

namespace halyard::codec {

/// What libjpeg calls when something goes wrong; lives beside the codec object that it serves.
struct JpegErrors {
  jpeg_error_mgr base;  ///< first: libjpeg holds a pointer to it
  std::jmp_buf jump;
  int code;  ///< J_MESSAGE_CODE of the last failure
  char text[JMSG_LENGTH_MAX];
};

/// Prepares `errors`; set the codec object's `err` to the result. Damaged data, which libjpeg only
/// warns of, counts as a failure; odd but harmless headers do not.
jpeg_error_mgr* prepare(JpegErrors& errors) noexcept;

/// Calls body(context). False when libjpeg reported an error in it. A failure leaves `body` and all
/// it called by longjmp: nothing with a destructor may live there.
bool run_guarded(JpegErrors& errors, void (*body)(void*), void* context);

/// The same for a body that takes a typed context.
template <auto body, class Context>
bool run_guarded(JpegErrors& errors, Context& context) {
  return run_guarded(
      errors, [](void* c) { body(*static_cast<Context*>(c)); }, &context);
}

/// Leaves the guarded body as if libjpeg had failed with `text`. For libjpeg's callbacks.
[[noreturn]] void leave_with(j_common_ptr object, const char* text);

/// The last failure, as corrupt, unsupported or no_memory with libjpeg's own words.
Error to_error(const JpegErrors& errors);

}  // namespace halyard::codec
