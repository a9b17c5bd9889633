// SPDX-License-Identifier: Apache-2.0
// The nodes of drivers in memory, and what their calls share.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "capture/v4l2/calls.h"

namespace halyard::test {

/// The argument of a call.
template <class T>
T& as(void* argument) {
  return *static_cast<T*>(argument);
}

/// A text that fills its field has no NUL.
template <std::size_t size>
void put_text(std::uint8_t (&field)[size], const std::string& text) {
  std::memset(field, 0, size);
  std::memcpy(field, text.data(), std::min(text.size(), size));
}

/// Offsets of buffers that are mapped are multiples of it.
constexpr std::size_t page = 4096;

/// Takes the place of the system's calls while it exists. Node has a path, a name, is_gone, and the
/// errors of calls in `failing`.
template <class Node>
class FakeNodes : public capture::V4l2Calls {
 public:
  FakeNodes() { capture::replace_v4l2_calls(this); }
  ~FakeNodes() override { capture::replace_v4l2_calls(nullptr); }

  Node& add(Node node) {  ///< "/dev/fakeN"
    node.path = "/dev/fake" + std::to_string(nodes_.size());
    nodes_.push_back(std::move(node));
    return nodes_.back();
  }

  int control_node(int fd, unsigned long request, void* argument) final {
    const std::lock_guard lock(mutex_);
    Node& node = *open_.at(fd);
    if (node.is_gone) return ENODEV;
    if (const auto failing = node.failing.find(request); failing != node.failing.end())
      return failing->second;
    return answer(node, request, argument);
  }
  std::vector<std::string> nodes() final {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> paths;
    for (const Node& node : nodes_)
      if (!node.is_gone) paths.push_back(node.path);
    return paths;
  }
  std::string name_of(const std::string& path) final {
    const std::lock_guard lock(mutex_);
    const Node* const node = find(path);
    return node == nullptr ? "" : node->name;
  }
  bool is_node(const std::string& path) final {
    const std::lock_guard lock(mutex_);
    return find(path) != nullptr;
  }

 protected:
  /// Called with the lock held; returns 0 or the error.
  virtual int answer(Node& node, unsigned long request, void* argument) = 0;
  Node* find(const std::string& path) {
    const auto found = std::find_if(nodes_.begin(), nodes_.end(), [&](const Node& node) {
      return node.path == path && !node.is_gone;
    });
    return found == nodes_.end() ? nullptr : &*found;
  }

  mutable std::mutex mutex_;
  std::map<int, Node*> open_;  ///< by descriptor

 private:
  std::deque<Node> nodes_;
};

}  // namespace halyard::test
