// SPDX-License-Identifier: Apache-2.0
// Owns libspng's context, and converts its errors to Halyard's.
#pragma once

#include <spng.h>

#include <memory>

#include "base/text/format_error.h"

namespace halyard::codec {

struct PngContextDeleter {
  void operator()(spng_ctx* context) const noexcept { spng_ctx_free(context); }
};
using PngContext = std::unique_ptr<spng_ctx, PngContextDeleter>;

inline Error png_error(int code) {
  if (code == SPNG_EMEM)
    return fail(Errc::no_memory, "memory for the PNG codec cannot be allocated");
  return fail(Errc::corrupt, "the PNG data is damaged or ends early", "{}", spng_strerror(code));
}

}  // namespace halyard::codec
