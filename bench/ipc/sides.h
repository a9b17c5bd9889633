// SPDX-License-Identifier: Apache-2.0
// The two sides of a scenario, written once for all transports. A transport `T` has
//   T::enter(role)               called first in each process; role is "first" or "second"
//   T::enter_thread()            the same in a second thread; only if needed
//   T::Publisher(topic, bytes)   of messages of that many bytes; topic is "ping" or "pong"
//     .connected(n)              whether n subscribers will get later messages
//     .loan()                    memory for a message; throws if there is none
//     .send(memory)              gives it to all subscribers
//     .discard(memory)           gives it back unsent
//     .retain(), .let_go()       adds a holder of loaned memory, and removes it
//   T::Subscriber(topic, bytes)  made after the publisher
//     .connected()
//     .take()                    the oldest message not taken yet; null: none
//     .release(message)
//     .lost()                    messages overwritten before it read them; only if counted
//   T::Waiter(subscriber)
//     .wait()                    sleeps until the subscriber may have a message
// A transport needs only the members that its scenarios use.
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include "measure.h"

namespace halyard::bench {

template <class Publisher>
void send_u64(Publisher& to, std::uint64_t value) {
  void* const memory = to.loan();
  std::memcpy(memory, &value, sizeof value);
  to.send(memory);
}

/// False: no message.
template <class Subscriber>
bool take_u64(Subscriber& from, std::uint64_t& value) {
  const void* const message = from.take();
  if (message == nullptr) return false;
  std::memcpy(&value, message, sizeof value);
  from.release(message);
  return true;
}

template <class Subscriber>
std::uint64_t poll_u64(Subscriber& from) {
  std::uint64_t value = 0;
  poll_until([&] { return take_u64(from, value); });
  return value;
}

/// Sleeps again after spurious wake-ups.
template <class Waiter, class Subscriber>
std::uint64_t wait_u64(Waiter& waiter, Subscriber& from) {
  std::uint64_t value = 0;
  while (!take_u64(from, value))
    waiter.wait();
  return value;
}

/// A publisher here, a subscriber of the other process's publisher.
template <class T>
struct Duplex {
  Duplex(const char* role, const char* out, const char* in, const Meeting& meeting) {
    T::enter(role);
    publisher = std::make_unique<typename T::Publisher>(out, 8);
    meeting.meet();
    subscriber = std::make_unique<typename T::Subscriber>(in, 8);
    poll_until([&] { return publisher->connected(1) && subscriber->connected(); });
    meeting.meet();
  }
  std::unique_ptr<typename T::Publisher> publisher;
  std::unique_ptr<typename T::Subscriber> subscriber;
};

/// The process that sends on "ping"; n subscribers get its messages.
template <class T>
struct SendingSide {
  SendingSide(std::size_t bytes, const Meeting& meeting, int n = 1) {
    T::enter("first");
    publisher = std::make_unique<typename T::Publisher>("ping", bytes);
    meeting.meet();
    poll_until([&] { return publisher->connected(n); });
    meeting.meet();
  }
  std::unique_ptr<typename T::Publisher> publisher;
};

/// The process that receives, with n subscribers.
template <class T>
struct ReceivingSide {
  ReceivingSide(std::size_t bytes, const Meeting& meeting, int n = 1) {
    T::enter("second");
    meeting.meet();
    for (int k = 0; k < n; ++k)
      subscribers.push_back(std::make_unique<typename T::Subscriber>("ping", bytes));
    for (const auto& each : subscribers)
      poll_until([&] { return each->connected(); });
    meeting.meet();
  }
  typename T::Subscriber& subscriber() const { return *subscribers[0]; }
  std::vector<std::unique_ptr<typename T::Subscriber>> subscribers;
};

}  // namespace halyard::bench
