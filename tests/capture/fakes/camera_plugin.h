// SPDX-License-Identifier: Apache-2.0
// A plugin of cameras in memory, which tests tell what to do.
#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace halyard::test {

/// Where a buffer's planes are.
enum class FakePlanes { joined, apart, in_two_objects };

/// The one stack of the plugin. Fields are set while no camera is open.
struct FakeStack {
  std::mutex mutex;
  std::vector<std::string> ids = {"front", "usb/2"};
  std::vector<std::uint32_t> fourccs;
  std::uint32_t width = 64, height = 32;  ///< the one size that it offers
  double rate = 25;                       ///< of its answer
  std::uint32_t buffers = 0;              ///< of its answer; 0: as it was asked
  std::uint32_t planes = 0;               ///< of its answer; 0: as many as it has
  std::uint32_t answered_width = 0;       ///< 0: as it was asked
  FakePlanes arrangement = FakePlanes::joined;
  std::size_t padding = 0;  ///< bytes between rows
  std::string reason = "a reason";
  /// Results of the functions, HAL_CAPTURE_*.
  int camera = 0, open = 0, configure = 0, buffer = 0, start = 0, take = 0, set_control = 0;
  bool has_no_fd = false;
  bool has_bad_memory = false;

  // What happened.
  int opened = 0, closed = 0;
  double asked_rate = 0;
  std::set<std::uint32_t> queued;  ///< buffers that the camera may fill
  int brightness = 50;

  /// Of the camera that runs; false: it has no buffer. All bytes become `value`, or begin with
  /// `bytes`.
  bool (*produce)(int value, std::uint32_t sequence, std::uint32_t flags,
                  const std::vector<std::uint8_t>& bytes) = nullptr;
  /// A frame in a buffer of this number, whether there is one or not.
  void (*claim)(std::uint32_t index) = nullptr;
  void (*unplug)() = nullptr;
};

using FakeStackFunction = FakeStack*();

}  // namespace halyard::test
