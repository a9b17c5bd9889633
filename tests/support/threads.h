// SPDX-License-Identifier: Apache-2.0
// Work that several threads do at once.
#pragma once

#include <cstddef>
#include <thread>
#include <vector>

namespace halyard::test {

/// Runs work(0), work(1), ... work(count - 1), each on a thread of its own, and waits for all.
template <class Work>
void on_threads(std::size_t count, const Work& work) {
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < count; ++i)
    threads.emplace_back([&work, i] { work(i); });
  for (std::thread& thread : threads)
    thread.join();
}

}  // namespace halyard::test
