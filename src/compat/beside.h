// SPDX-License-Identifier: Apache-2.0
// Two pieces of work at once. Only beside.cpp of this layer uses oneTBB.
#pragma once

namespace halyard::compat {

/// A reference to a callable.
class Work {
 public:
  template <class Body>
  explicit Work(const Body& body) noexcept
      : object_(&body),
        function_([](const void* object) { (*static_cast<const Body*>(object))(); }) {}
  void operator()() const { function_(object_); }

 private:
  const void* object_;
  void (*function_)(const void*);
};

/// Runs both and waits for them: on two threads if a core is free, otherwise one after the other.
/// Rethrows what one of them throws.
void run_beside(Work one, Work other);

}  // namespace halyard::compat
