// SPDX-License-Identifier: Apache-2.0
// Two pieces of work at once. The only place of the layer that knows oneTBB.
#pragma once

namespace halyard::compat {

/// A callable, by reference.
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

/// Runs both and waits for them: on two threads where a core is free, else one after the other.
/// What one of them throws is thrown here.
void run_beside(Work one, Work other);

}  // namespace halyard::compat
