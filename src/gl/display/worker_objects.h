// SPDX-License-Identifier: Apache-2.0
// Objects of a context that all their users in a process share.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "base/system/fork.h"
#include "base/system/ranked_mutex.h"
#include "gl/display/worker.h"

namespace halyard::gl {

/// The T of this process for the worker, made by T(worker) at the first call. It keeps the worker
/// alive, and dies on its thread, which the last user waits for. T tells by belong_to(worker) whose
/// it is, and its constructor calls no OpenGL. Thread-safe. May throw std::bad_alloc.
template <class T>
std::shared_ptr<T> shared_objects(const std::shared_ptr<Worker>& worker) {
  struct Known {
    RankedMutex<LockRank::gl_objects> mutex;
    std::weak_ptr<T> objects;
  };
  static PerProcess<Known> process;
  Known& known = process.get();
  const std::lock_guard lock(known.mutex);
  if (auto alive = known.objects.lock(); alive && alive->belong_to(*worker)) return alive;
  // Waits, so that the last owner of the worker, who joins its thread, is not that thread. Gives
  // the worker up when it is called, because `known` keeps the function itself.
  const auto destroy = [owner = std::shared_ptr(worker)](T* objects) mutable {
    const auto last = std::exchange(owner, nullptr);
    static_cast<void>(last->run([objects] {
      delete objects;
      return Status();
    }));
  };
  std::shared_ptr<T> made(new T(worker), destroy);
  known.objects = made;
  return made;
}

}  // namespace halyard::gl
