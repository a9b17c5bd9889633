// SPDX-License-Identifier: Apache-2.0
// Turns errors of libjpeg, which leaves its functions by longjmp, into Error. The only setjmp is
// here.
#pragma once

#include <csetjmp>
#include <cstddef>
#include <cstdio>
// jpeglib.h needs the two headers above.
#include <jpeglib.h>

#include "halyard/result.h"

namespace halyard::codec {

/// The error manager that libjpeg calls on a failure; it lives beside its codec object.
struct JpegErrors {
  jpeg_error_mgr base;  ///< first: libjpeg holds a pointer to it
  std::jmp_buf jump;
  int code;  ///< J_MESSAGE_CODE of the last failure
  char text[JMSG_LENGTH_MAX];
};

/// Prepares `errors`; set the codec object's `err` to the result. Damaged data, of which libjpeg
/// only warns, is a failure; unusual but harmless headers are not.
jpeg_error_mgr* prepare(JpegErrors& errors) noexcept;

/// Calls body(context). Returns false if libjpeg reported an error. A failure leaves `body` and all
/// functions that it called by longjmp, so no object there may have a destructor.
bool run_guarded(JpegErrors& errors, void (*body)(void*), void* context);

/// As above, for a body that takes a typed context.
template <auto body, class Context>
bool run_guarded(JpegErrors& errors, Context& context) {
  return run_guarded(
      errors, [](void* c) { body(*static_cast<Context*>(c)); }, &context);
}

/// Leaves the guarded body as if libjpeg had failed with `text`. For libjpeg's callbacks.
[[noreturn]] void leave_with(j_common_ptr object, const char* text);

/// The last failure as corrupt, unsupported or no_memory, with libjpeg's message.
Error to_error(const JpegErrors& errors);

}  // namespace halyard::codec
