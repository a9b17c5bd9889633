// SPDX-License-Identifier: Apache-2.0
// The part files of this process, where a signal handler can find them. A slot is taken before the
// file is made: a signal in between must not leave a file that nobody knows.
#pragma once

#include <string_view>

namespace halyard {

/// A place in the registry for one part file. Lock-free. Not to be moved or copied.
class PartSlot {
 public:
  PartSlot() = default;
  PartSlot(const PartSlot&) = delete;
  PartSlot& operator=(const PartSlot&) = delete;
  ~PartSlot() { leave(); }

  /// Enters a file that is about to be made. `folder` is borrowed until leave(). Without a free
  /// slot nothing is entered.
  void enter(int folder, std::string_view name) noexcept;
  /// The file has been made.
  void confirm() noexcept;
  /// The file has its final name, or does not exist. Does nothing where nothing is entered.
  void leave() noexcept;

 private:
  int index_ = -1;
};

/// Whether remove_part_files() was called in this process.
bool is_process_ending() noexcept;

}  // namespace halyard
