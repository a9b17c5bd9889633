// SPDX-License-Identifier: Apache-2.0
// What tests of pools, topics and messages have in common.
#pragma once

#include <sys/resource.h>

#include <chrono>
#include <stdexcept>
#include <utility>

#include "halyard/topic.h"
#include "support/value_of.h"

namespace halyard::test {

/// A topic's next message; where none comes in time, the test fails here with the latest error.
template <class T>
T receive(Topic<T>& topic, std::chrono::nanoseconds timeout = std::chrono::nanoseconds(0)) {
  auto received = timeout.count() == 0 ? topic.recv() : topic.recv_for(timeout);
  if (!received) throw std::runtime_error("nothing came: " + topic.stats().last_error.message());
  return *std::move(received);
}

/// How many pages this thread has touched for the first time during `work`.
template <class Work>
long page_faults_of(const Work& work) {
  rusage before = {};
  rusage after = {};
  ::getrusage(RUSAGE_THREAD, &before);
  work();
  ::getrusage(RUSAGE_THREAD, &after);
  return after.ru_minflt - before.ru_minflt;
}

}  // namespace halyard::test
