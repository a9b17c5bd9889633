// SPDX-License-Identifier: Apache-2.0
#include "gl/display/worker.h"

#include <condition_variable>
#include <future>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>
#include <utility>

#include "base/ranked_condition.h"
#include "base/system/fork.h"
#include "base/system/ranked_mutex.h"
#include "base/text/format_error.h"
#include "base/text/log_format.h"
#include "gl/display/library.h"

namespace halyard::gl {
namespace {

// Some drivers deadlock when two threads make or destroy contexts at once.
struct Process {
  RankedMutex<LockRank::gl_contexts> lifecycle;
  std::optional<std::vector<Display>> displays;  // guarded by `lifecycle`

  RankedMutex<LockRank::gl_start> starting;
  std::weak_ptr<Worker> worker;  // guarded by `starting`, as the next
  std::map<std::pair<bool, std::optional<GlDisplayKind>>, Error> refused;
};

Process& process() {
  static PerProcess<Process> one;
  return one.get();
}

// Requires `lifecycle`, on a thread of the library.
const std::vector<Display>& displays() {
  auto& known = process().displays;
  if (!known) known = open_displays();
  return *known;
}

Status check_renderer(const Capabilities& capabilities, bool allow_software) {
  if (!capabilities.is_software || allow_software) return {};
  return fail(Errc::unsupported,
              "display: its renderer runs on the CPU; HALYARD_ALLOW_SOFTWARE_GL=1 allows it", "{}",
              capabilities.renderer);
}

std::string title_of(const Display& display) {
  return fmt::format("{}{}{}", to_string(display.kind), display.name.empty() ? "" : " ",
                     display.name);
}

// Runs `work` on a thread of its own: the caller's may have a current context.
Status run_apart(const std::function<void()>& work) {
  try {
    std::thread(work).join();
  } catch (const std::system_error&) {
    return fail(Errc::exhausted, "opengl: no thread can be started");
  }
  return {};
}

}  // namespace

Result<std::vector<GlDisplay>> try_displays(bool allow_software) {
  HALYARD_RETURN_IF_ERROR(load_libraries());
  std::vector<GlDisplay> out;
  HALYARD_RETURN_IF_ERROR(run_apart([&] {
    const std::lock_guard lock(process().lifecycle);
    for (const Display& display : displays()) {
      GlDisplay& tried = out.emplace_back(GlDisplay{display.kind, display.name, {}, {}});
      const auto context = Context::create(display);
      tried.status = context ? check_renderer(context->capabilities(), allow_software)
                             : Status(context.error());
      if (context) tried.renderer = context->capabilities().renderer;
    }
  }));
  return out;
}

/// What the thread reports once it has, or has not, a context.
struct Worker::Start {
  bool allow_software = false;
  std::optional<GlDisplayKind> kind = {};
  std::promise<void> reported = {};
  Status status = {};
  const Display* display = nullptr;
  Capabilities capabilities = {};
};

/// Work for the thread. In the steady state it allocates nothing.
struct Worker::Queue {
  /// One call of run(), on the stack of its caller.
  struct Call {
    const std::function<Status()>& work;
    Status status;
    bool is_done = false;
  };
  struct Item {
    Call* call = nullptr;
    std::function<void()> posted;
  };

  RankedMutex<LockRank::leaf> mutex;
  RankedCondition filled;
  RankedCondition done;
  std::vector<Item> waiting = with_room();
  bool is_ending = false;

  static std::vector<Item> with_room() {
    std::vector<Item> out;
    out.reserve(16);
    return out;
  }

  bool add(Item item) {
    {
      const std::lock_guard lock(mutex);
      if (is_ending) return false;
      waiting.push_back(std::move(item));
    }
    filled.notify_one();
    return true;
  }

  void run(Item& item) {
    if (item.call == nullptr) return item.posted();
    Status status = guarded(item.call->work);
    const std::lock_guard lock(mutex);
    item.call->status = std::move(status);
    item.call->is_done = true;
    done.notify_all();
  }

  static Status guarded(const std::function<Status()>& work) {
    try {
      return work();
    } catch (const std::bad_alloc&) {
      return fail(Errc::no_memory, "opengl: no memory");
    }
  }

  /// Serves until the end, then what still waits.
  void serve() {
    std::vector<Item> running = with_room();
    for (;;) {
      {
        std::unique_lock lock(mutex);
        filled.wait(lock, [&] { return !waiting.empty() || is_ending; });
        if (waiting.empty()) return;
        running.swap(waiting);
      }
      for (Item& item : running)
        run(item);
      running.clear();
    }
  }
};

void Worker::serve(const std::shared_ptr<Queue>& queue, Start& start) {
  std::optional<Context> context;
  std::string reasons;
  {
    const std::lock_guard lock(process().lifecycle);
    for (const Display& display : displays()) {
      if (start.kind && display.kind != *start.kind) continue;
      auto made = Context::create(display);
      const Status usable =
          made ? check_renderer(made->capabilities(), start.allow_software) : Status(made.error());
      if (usable) {
        context.emplace(std::move(*made));
        break;
      }
      reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", title_of(display),
                             usable.error().message());
    }
  }
  if (context) {
    start.display = &context->display();
    start.capabilities = context->capabilities();
  } else {
    start.status = make_error(Errc::unsupported, "display: none can be used", reasons);
  }
  start.reported.set_value();  // `start` ends here
  if (context) queue->serve();
  const std::lock_guard lock(process().lifecycle);
  context.reset();
}

Worker::Worker(std::shared_ptr<Queue> queue) noexcept
    : queue_(std::move(queue)), generation_(fork_generation()) {}

Result<std::shared_ptr<Worker>> Worker::start(bool allow_software,
                                              std::optional<GlDisplayKind> kind) {
  HALYARD_RETURN_IF_ERROR(load_libraries());
  const std::shared_ptr<Worker> out(new Worker(std::make_shared<Queue>()));
  Start start{.allow_software = allow_software, .kind = kind};
  auto reported = start.reported.get_future();
  try {
    out->thread_ = std::thread([queue = out->queue_, &start] { serve(queue, start); });
  } catch (const std::system_error&) {
    return fail(Errc::exhausted, "opengl: no thread can be started");
  }
  reported.wait();
  HALYARD_RETURN_IF_ERROR(start.status);
  out->display_ = start.display;
  out->capabilities_ = std::move(start.capabilities);
  HALYARD_LOG(LogLevel::info, "gl", "{} on {}, {}", out->capabilities_.renderer,
              title_of(*out->display_), out->capabilities_.version);
  return out;
}

Result<std::shared_ptr<Worker>> Worker::shared(bool allow_software,
                                               std::optional<GlDisplayKind> kind) {
  HALYARD_RETURN_IF_ERROR(load_libraries());  // fails in a child of fork()
  const std::lock_guard lock(process().starting);
  if (auto alive = process().worker.lock(); alive && !alive->is_lost()) {
    HALYARD_RETURN_IF_ERROR(check_renderer(alive->capabilities(), allow_software));
    if (!kind || alive->display().kind == *kind) return alive;
    return fail(Errc::unsupported, "display: this process uses another one already", "{}, not {}",
                title_of(alive->display()), to_string(*kind));
  }
  // Displays do not come later, and looking for them takes long.
  auto& refused = process().refused;
  const std::pair key(allow_software, kind);
  if (const auto known = refused.find(key); known != refused.end()) return known->second;
  auto started = start(allow_software, kind);
  if (started) {
    process().worker = *started;
  } else if (started.error().code == Errc::unsupported) {
    refused.emplace(key, started.error());
  }
  return started;
}

bool Worker::has_thread() const noexcept {
  return generation_ == fork_generation();
}

Worker::~Worker() {
  if (!thread_.joinable()) return;
  if (!has_thread()) {  // it is the parent's
    thread_.detach();
    return;
  }
  {
    const std::lock_guard lock(queue_->mutex);
    queue_->is_ending = true;
  }
  queue_->filled.notify_one();
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();
  } else {
    may_lock<LockRank::gl_contexts>();
    thread_.join();
  }
}

Status Worker::run(const std::function<Status()>& work) {
  if (!has_thread())
    return fail(Errc::device, "opengl: this process was forked after OpenGL was opened");
  if (thread_.get_id() == std::this_thread::get_id()) return Queue::guarded(work);
  may_lock<LockRank::gl_contexts>();
  Queue::Call call{work, {}};
  if (!queue_->add({&call, {}})) return fail(Errc::device, "opengl: its thread has ended");
  std::unique_lock lock(queue_->mutex);
  queue_->done.wait(lock, [&] { return call.is_done; });
  return std::move(call.status);
}

void Worker::post(std::function<void()> work) noexcept {
  if (!has_thread()) return;
  const auto queue = queue_;  // the work may destroy the last owner of this object
  queue->add({nullptr, std::move(work)});
}

}  // namespace halyard::gl
