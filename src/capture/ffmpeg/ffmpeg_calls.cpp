// SPDX-License-Identifier: Apache-2.0
// Finds FFmpeg's libraries with the system's loader.
#include "capture/ffmpeg/ffmpeg_calls.h"

#ifdef HALYARD_HAVE_FFMPEG

#include <atomic>
#include <memory>

#include "base/assert.h"
#include "base/system/shared_object.h"
#include "base/text/format_error.h"
#include "capture/ffmpeg/ffmpeg.h"

#define HALYARD_TEXT(x) #x
#define HALYARD_NUMBER(x) HALYARD_TEXT(x)

namespace halyard::capture {
namespace {

// Structures differ between major versions, so each version needs its own build. Debian's package
// names contain the major versions too.
#define HALYARD_PACKAGES                                                                \
  "libavformat" HALYARD_NUMBER(LIBAVFORMAT_VERSION_MAJOR) " libavcodec" HALYARD_NUMBER( \
      LIBAVCODEC_VERSION_MAJOR) " libavutil" HALYARD_NUMBER(LIBAVUTIL_VERSION_MAJOR)
constexpr char ffmpeg_missing[] =
    "video: FFmpeg cannot be loaded: install " HALYARD_PACKAGES " (Debian's names)";
constexpr char lacks[] = "video: FFmpeg lacks a function: install " HALYARD_PACKAGES;

std::atomic<const FfmpegCalls*> loaded_ffmpeg{nullptr};

// Keeps the first name that is not found.
template <class Function>
void find(const SharedObject& library, const char* name, Function*& into, const char*& missing) {
  into = library.function<Function>(name);
  if (into == nullptr && missing == nullptr) missing = name;
}

Status find_all(FfmpegCalls& calls) {
  const auto open = [](const char* name) { return SharedObject::open(name, ffmpeg_missing); };
  HALYARD_TRY(const auto util, open("libavutil.so." HALYARD_NUMBER(LIBAVUTIL_VERSION_MAJOR)));
  HALYARD_TRY(const auto codec, open("libavcodec.so." HALYARD_NUMBER(LIBAVCODEC_VERSION_MAJOR)));
  HALYARD_TRY(const auto format, open("libavformat.so." HALYARD_NUMBER(LIBAVFORMAT_VERSION_MAJOR)));
  const char* missing = nullptr;
#define HALYARD_UTIL(name) find(util, #name, calls.name, missing);
#define HALYARD_CODEC(name) find(codec, #name, calls.name, missing);
#define HALYARD_FORMAT(name) find(format, #name, calls.name, missing);
  HALYARD_AVUTIL_CALLS(HALYARD_UTIL)
  HALYARD_AVCODEC_CALLS(HALYARD_CODEC)
  HALYARD_AVFORMAT_CALLS(HALYARD_FORMAT)
  if (missing != nullptr) return fail(Errc::unsupported, lacks, "{}", missing);
  return {};
}

}  // namespace

Status load_ffmpeg() {
  if (loaded_ffmpeg.load(std::memory_order_acquire) == nullptr) {
    auto calls = std::make_unique<FfmpegCalls>();
    HALYARD_RETURN_IF_ERROR(find_all(*calls));
    // Two threads may load at once. The first one's table is kept until the process ends.
    const FfmpegCalls* none = nullptr;
    if (loaded_ffmpeg.compare_exchange_strong(none, calls.get(), std::memory_order_acq_rel))
      static_cast<void>(calls.release());
  }
  route_ffmpeg_log();
  return {};
}

const FfmpegCalls& ffmpeg() noexcept {
  const FfmpegCalls* const calls = loaded_ffmpeg.load(std::memory_order_acquire);
  HALYARD_ASSERT(calls != nullptr);
  return *calls;
}

}  // namespace halyard::capture

#endif
