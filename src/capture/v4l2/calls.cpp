// SPDX-License-Identifier: Apache-2.0
// The system's calls to camera nodes.
#include "capture/v4l2/calls.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>

#include "base/local.h"

namespace halyard::capture {
namespace {

namespace fs = std::filesystem;

constexpr unsigned video_major = 81;  // Documentation/admin-guide/devices.txt of the kernel

class HALYARD_LOCAL SystemCalls final : public V4l2Calls {
 public:
  int open_node(const std::string& path) override {
    return ::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  }
  int control_node(int fd, unsigned long request, void* argument) override {
    int result = 0;
    do {
      result = ::ioctl(fd, request, argument);
    } while (result != 0 && errno == EINTR);
    return result == 0 ? 0 : errno;
  }
  Result<MappedMemory> map_buffer(int fd, std::size_t offset, std::size_t size,
                                  bool is_writable) override {
    return MappedMemory::create_at(fd, offset, size, is_writable);
  }
  std::vector<std::string> nodes() override;
  std::string name_of(const std::string& path) override;
  bool is_node(const std::string& path) override {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 && S_ISCHR(status.st_mode) &&
           major(status.st_rdev) == video_major;
  }
};

std::vector<std::string> SystemCalls::nodes() {
  constexpr std::string_view prefix = "video";
  std::vector<unsigned> numbers;
  std::error_code error;
  for (fs::directory_iterator it("/dev", error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    unsigned number = 0;
    if (!name.starts_with(prefix)) continue;
    const char* const last = name.data() + name.size();
    const auto [stop, bad] = std::from_chars(name.data() + prefix.size(), last, number);
    if (bad == std::errc() && stop == last) numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end());
  std::vector<std::string> paths;
  for (const unsigned number : numbers)
    paths.push_back("/dev/video" + std::to_string(number));
  std::erase_if(paths, [this](const std::string& path) { return !is_node(path); });
  return paths;
}

std::string SystemCalls::name_of(const std::string& path) {
  std::error_code error;
  const fs::path node = fs::canonical(path, error);
  std::ifstream file(fs::path("/sys/class/video4linux") / node.filename() / "name");
  std::string name;
  std::getline(file, name);
  return name;
}

std::atomic<V4l2Calls*> replaced{nullptr};

}  // namespace

V4l2Calls& v4l2_calls() noexcept {
  // Has no state and no lock, so a child of fork() may use it at any time.
  static constinit SystemCalls system;
  V4l2Calls* const other = replaced.load(std::memory_order_acquire);
  return other == nullptr ? system : *other;
}

void replace_v4l2_calls(V4l2Calls* calls) noexcept {
  replaced.store(calls, std::memory_order_release);
}

}  // namespace halyard::capture
