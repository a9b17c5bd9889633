// SPDX-License-Identifier: Apache-2.0
// libjpeg's error manager: turns its failures and warnings into a jump out of the guarded body.
#include "codec/jpeg/jpeg_guard.h"

#include <jerror.h>

#include <algorithm>

#include "base/text/format_error.h"

namespace halyard::codec {
namespace {

[[noreturn]] void leave(j_common_ptr object) {
  auto* errors = reinterpret_cast<JpegErrors*>(object->err);
  errors->code = object->err->msg_code;
  object->err->format_message(object, errors->text);
  std::longjmp(errors->jump, 1);
}

// Whether the bytes that libjpeg skipped before a marker are harmless: bytes between header
// segments, or zeros with which a camera filled its buffer. Other bytes are data that no decoder
// has read.
bool is_padding(j_common_ptr object) {
  const auto* codec = reinterpret_cast<jpeg_decompress_struct*>(object);
  if (codec->input_scan_number == 0) return true;
  const JOCTET* end = codec->src->next_input_byte;  // after the last skipped byte
  return std::all_of(end - object->err->msg_parm.i[0], end, [](JOCTET b) { return b == 0; });
}

void on_message(j_common_ptr object, int level) {
  if (level >= 0) return;
  switch (object->err->msg_code) {
    case JWRN_ADOBE_XFORM:
    case JWRN_JFIF_MAJOR:
    case JWRN_NOT_SEQUENTIAL:
    case JWRN_TOO_MUCH_DATA:
      return;
    case JWRN_EXTRANEOUS_DATA:
      if (!is_padding(object)) leave(object);
      return;
    default:
      leave(object);
  }
}

void print_nothing(j_common_ptr) {}

}  // namespace

jpeg_error_mgr* prepare(JpegErrors& errors) noexcept {
  jpeg_error_mgr* base = jpeg_std_error(&errors.base);
  base->error_exit = leave;
  base->emit_message = on_message;
  base->output_message = print_nothing;
  errors.code = 0;
  errors.text[0] = '\0';
  return base;
}

void leave_with(j_common_ptr object, const char* text) {
  auto* errors = reinterpret_cast<JpegErrors*>(object->err);
  errors->code = JMSG_NOMESSAGE;
  std::snprintf(errors->text, sizeof errors->text, "%s", text);
  std::longjmp(errors->jump, 1);
}

bool run_guarded(JpegErrors& errors, void (*body)(void*), void* context) {
  if (setjmp(errors.jump) != 0) return false;
  body(context);
  return true;
}

Error to_error(const JpegErrors& errors) {
  switch (errors.code) {
    case JERR_OUT_OF_MEMORY:
      return fail(Errc::no_memory, "memory for the JPEG codec cannot be allocated", "{}",
                  errors.text);
    case JERR_ARITH_NOTIMPL:
    case JERR_CCIR601_NOTIMPL:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_FRACT_SAMPLE_NOTIMPL:
    case JERR_NOTIMPL:
    case JERR_SOF_UNSUPPORTED:
      return fail(Errc::unsupported, "this kind of JPEG is not supported", "{}", errors.text);
    default:
      return fail(Errc::corrupt, "the JPEG data is damaged or ends early", "{}", errors.text);
  }
}

}  // namespace halyard::codec
