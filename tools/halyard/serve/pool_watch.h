// SPDX-License-Identifier: Apache-2.0
// PoolWatch: pools and topics of this machine, asked for on a thread of its own: a process that
// does not answer takes 300 ms.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "halyard/result.h"
#include "output/rates.h"

namespace halyard::tool {

/// Thread-safe.
class PoolWatch {
 public:
  PoolWatch() = default;
  ~PoolWatch();
  PoolWatch(const PoolWatch&) = delete;
  PoolWatch& operator=(const PoolWatch&) = delete;

  /// Begins to look once a second, as long as somebody asked in the last ten seconds. Errors:
  /// exhausted (no thread).
  Status start();
  void stop();
  /// The last look, with its age, as a document on one line; never waits.
  std::string json();

 private:
  using Clock = std::chrono::steady_clock;
  struct Look {
    std::vector<PoolInfo> pools;
    std::vector<TopicInfo> topics;
    Rates rates;  ///< since the look before
  };
  static Result<Look> look(const std::vector<TopicInfo>& before);
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_stopping_ = false;
  Clock::time_point asked_ = Clock::now();
  Clock::time_point looked_{};
  Look last_;
  std::string error_;
  std::thread thread_;
};

}  // namespace halyard::tool
