// SPDX-License-Identifier: Apache-2.0
// The part files of this process, where a signal handler can find them. A slot is taken before the
// file is made, so that a signal in between does not leave an unknown file.
#pragma once

#include <string_view>

namespace halyard {

/// A place in the registry for one part file. Lock-free. Neither movable nor copyable.
class PartSlot {
 public:
  PartSlot() = default;
  PartSlot(const PartSlot&) = delete;
  PartSlot& operator=(const PartSlot&) = delete;
  ~PartSlot() { leave(); }

  /// Enters a file that is about to be made. `folder` is borrowed until leave(). If no slot is
  /// free, nothing is entered.
  void enter(int folder, std::string_view name) noexcept;
  /// Call after the file has been made.
  void confirm() noexcept;
  /// Call when the file has its final name, or does not exist. Does nothing if nothing is entered.
  void leave() noexcept;

 private:
  int index_ = -1;
};

/// Whether remove_part_files() was called in this process.
bool is_process_ending() noexcept;

}  // namespace halyard
