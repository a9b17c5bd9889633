// SPDX-License-Identifier: Apache-2.0
// Starts libcamera.
#include "capture/libcamera/manager.h"

#include <libcamera/logging.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "base/system/ranked_mutex.h"
#include "halyard/c/capture_plugin.h"

namespace halyard::libcamera_plugin {
namespace {

struct Started {
  libcamera::CameraManager cameras;
  int error = 0;
  pid_t process = 0;
};

// libcamera writes to standard error unless it is told where else. A user who sets one of its own
// variables wants to read it.
void quieten() {
  for (const char* const name : {"LIBCAMERA_LOG_LEVELS", "LIBCAMERA_LOG_FILE"})
    if (::secure_getenv(name) != nullptr) return;
  libcamera::logSetTarget(libcamera::LoggingTargetNone);
}

}  // namespace

void tell(char* text, const std::string& reason) {
  const std::size_t size = std::min<std::size_t>(reason.size(), HAL_CAPTURE_TEXT_BYTES - 1);
  std::memcpy(text, reason.data(), size);
  text[size] = '\0';
}

libcamera::CameraManager* manager(char* text) {
  static RankedMutex<LockRank::leaf> mutex;
  static Started* started = nullptr;  // never destroyed: its thread runs until the end
  const std::lock_guard lock(mutex);
  if (started == nullptr) {
    quieten();
    auto fresh = std::make_unique<Started>();
    fresh->process = ::getpid();
    fresh->error = fresh->cameras.start();
    if (fresh->error != 0) {
      tell(text, "libcamera does not start: " + std::string(std::strerror(-fresh->error)));
      return nullptr;
    }
    started = fresh.release();
  }
  if (started->process != ::getpid()) {
    tell(text, "libcamera was started before fork()");
    return nullptr;
  }
  return &started->cameras;
}

}  // namespace halyard::libcamera_plugin
