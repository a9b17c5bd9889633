// SPDX-License-Identifier: Apache-2.0
// Camera: opens and starts a camera, waits for its frames, and opens it again after a failure.
#include "halyard/camera.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>

#include "base/local.h"
#include "base/text/format_error.h"
#include "capture/camera/camera_feed.h"
#include "capture/plugin/plugin_feed.h"
#include "capture/v4l2/camera_choice.h"
#include "capture/v4l2/camera_controls.h"
#include "capture/v4l2/camera_wait.h"
#include "capture/v4l2/v4l2_feed.h"
#include "halyard/log.h"
#include "halyard/threads.h"
#include "halyard/trace.h"

namespace halyard {

using capture::CameraFeed;
using capture::CameraWait;
using capture::FilledBuffer;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

namespace {

constexpr milliseconds first_pause{100}, longest_pause{5000};
constexpr milliseconds patience{1000};  // with held buffers, before it is logged
constexpr milliseconds pool_pause{5};   // between looks for a free slot

// Whether a JPEG is at fault, not the machine.
bool is_bad_file(Errc code) noexcept {
  return code == Errc::corrupt || code == Errc::malformed || code == Errc::unsupported ||
         code == Errc::invalid_argument;
}

std::unique_ptr<CameraFeed> make_feed(const std::string& path, const CameraOptions& options) {
  if (auto address = capture::plugin_address(path))
    return capture::make_plugin_feed(*std::move(address), options);
  return capture::make_v4l2_feed(path, options);
}

}  // namespace

struct HALYARD_LOCAL Camera::Impl {
  Impl(const std::string& path, const CameraOptions& wanted)
      : options(wanted), feed(make_feed(path, wanted)) {
    mode.path = path;
  }

  Status start();
  Status reopen();
  void note_failure(const Error& error);
  void wait_to_reopen();
  Result<std::optional<CameraFrame>> pull();
  Result<std::optional<FilledBuffer>> take_newest();
  Status discard(std::uint32_t index, std::atomic<std::uint64_t>& counter);
  void count_sequence(std::uint32_t number);
  Result<CameraFrame> next(milliseconds timeout);
  Error late(milliseconds timeout) const;
  void tell_starved();
  void wait_for_pool();
  Result<std::vector<CameraControl>> controls() const;
  Result<CameraControl> control(std::string_view name) const;

  const std::uint32_t process = fork_generation();
  CameraOptions options;
  CameraMode mode;
  std::unique_ptr<CameraFeed> feed;
  CameraWait wait;

  std::optional<std::uint32_t> last_number;  // the driver's sequence
  std::uint64_t sequence = 0;
  std::uint64_t unreported = 0;  // lost before the frame that is returned next
  std::optional<Error> away;     // why the camera is gone
  milliseconds pause = first_pause;
  Clock::time_point next_try;
  bool has_delivered = false;  // a frame since the camera was opened
  bool has_told_starved = false;
  bool waits_for_pool = false;

  struct {
    std::atomic<std::uint64_t> frames{0}, lost{0}, corrupt{0}, dropped{0}, copies{0}, reopened{0};
  } counts;
};

Status Camera::Impl::start() {
  HALYARD_RETURN_IF_ERROR(feed->start(mode));
  if (mode.transfer == CameraTransfer::copied)
    log(LogLevel::warn, "capture",
        mode.path + (options.pool ? ": the driver does not write into a pool; frames are copied"
                                  : ": the driver exports no buffers; frames are copied"));
  last_number.reset();
  return wait.watch(feed->fd());
}

Status Camera::Impl::reopen() {
  trace::Span span("capture.reopen");
  Status done = feed->open();
  if (done) done = start();
  if (done) {
    away.reset();
    counts.reopened.fetch_add(1, std::memory_order_relaxed);
    return {};
  }
  feed->stop();
  away = done.error();
  wait_to_reopen();
  return done;
}

void Camera::Impl::wait_to_reopen() {
  next_try = Clock::now() + pause;
  wait.set_timer(pause);
  pause = std::min(2 * pause, longest_pause);
}

void Camera::Impl::note_failure(const Error& error) {
  log(LogLevel::warn, "capture", mode.path + ": " + error.message() + "; it is opened again");
  wait.unwatch();
  feed->stop();
  away = error;
  next_try = Clock::now();
  // A camera that failed again before its first frame is not opened at once.
  if (!std::exchange(has_delivered, false)) wait_to_reopen();
}

// The driver counts frames in 32 bits, which may wrap. Drivers that count nothing, or begin again,
// report no gap.
void Camera::Impl::count_sequence(std::uint32_t number) {
  if (!last_number) {
    last_number = number;
    return;
  }
  const std::uint32_t step = number - *last_number;
  last_number = number;
  constexpr std::uint32_t backwards = 1U << 31U;
  if (step == 0 || step >= backwards) {
    ++sequence;
    return;
  }
  sequence += step;
  unreported += step - 1;
  counts.lost.fetch_add(step - 1, std::memory_order_relaxed);
}

Status Camera::Impl::discard(std::uint32_t index, std::atomic<std::uint64_t>& counter) {
  counter.fetch_add(1, std::memory_order_relaxed);
  return feed->put_back(index);
}

// The next undamaged buffer; with latest_only the newest of those that wait.
Result<std::optional<FilledBuffer>> Camera::Impl::take_newest() {
  std::optional<FilledBuffer> newest;
  // Bounded: a camera that is faster than this loop must not keep it busy.
  for (std::uint32_t n = 0; n <= 2 * mode.buffers; ++n) {
    auto filled = feed->take();
    if (!filled) return newest ? Result<std::optional<FilledBuffer>>(newest) : filled;
    if (!*filled) break;
    count_sequence((*filled)->sequence);
    if ((*filled)->is_damaged || !feed->is_complete(**filled)) {
      HALYARD_RETURN_IF_ERROR(discard((*filled)->index, counts.corrupt));
      continue;
    }
    if (newest) HALYARD_RETURN_IF_ERROR(discard(newest->index, counts.dropped));
    newest = *filled;
    if (!options.latest_only) break;
  }
  return newest;
}

Result<std::optional<CameraFrame>> Camera::Impl::pull() {
  for (;;) {
    HALYARD_TRY(const auto filled, take_newest());
    if (!filled) return std::optional<CameraFrame>();
    auto image = feed->make_image(*filled);
    const bool is_jpeg = mode.transfer == CameraTransfer::decoded;
    if (!image && is_jpeg && is_bad_file(image.error().code)) {
      counts.corrupt.fetch_add(1, std::memory_order_relaxed);
      continue;
    }
    if (!image) return image.error();
    if (is_jpeg) mode.layout.format = *image->format();
    const bool is_copy =
        mode.transfer == CameraTransfer::copied || mode.transfer == CameraTransfer::expanded;
    if (is_copy) counts.copies.fetch_add(1, std::memory_order_relaxed);
    counts.frames.fetch_add(1, std::memory_order_relaxed);
    has_delivered = true;
    pause = first_pause;
    CameraFrame frame{*std::move(image), sequence, std::exchange(unreported, 0), filled->timestamp};
    return std::optional(std::move(frame));
  }
}

Error Camera::Impl::late(milliseconds timeout) const {
  if (away)
    return fail(Errc::timeout, "camera: it is away and has not come back", "{}: {}", mode.path,
                away->message());
  if (feed->is_starved() && options.pool)
    return fail(Errc::exhausted, "camera: the pool has no free slot; release frames or enlarge it",
                "{}: {} buffers, {} ms", mode.path, mode.buffers, timeout.count());
  if (feed->is_starved())
    return fail(
        Errc::exhausted,
        "camera: the caller holds all buffers; release frames or raise CameraOptions::buffers",
        "{}: {} buffers, {} ms", mode.path, mode.buffers, timeout.count());
  return fail(Errc::timeout, "camera: no frame came in time", "{}: {} ms", mode.path,
              timeout.count());
}

void Camera::Impl::tell_starved() {
  if (std::exchange(has_told_starved, true)) return;
  log(LogLevel::warn, "capture", mode.path + ": waits for the caller, who holds all buffers");
}

// A slot may come back in another process, and nobody tells: the timer wakes next(), and whoever
// polls fd().
void Camera::Impl::wait_for_pool() {
  const bool did_wait = std::exchange(waits_for_pool, feed->is_starved());
  if (waits_for_pool || did_wait)
    wait.set_timer(waits_for_pool ? pool_pause : milliseconds::zero());
}

Result<CameraFrame> Camera::Impl::next(milliseconds timeout) {
  if (fork_generation() != process)
    return fail(Errc::unsupported, "camera: a child of fork() cannot capture with it");
  const bool is_endless = timeout < milliseconds::zero();
  const Clock::time_point end =
      Clock::now() + (is_endless ? std::chrono::hours(24 * 365) : timeout);
  bool has_failed = false;
  for (;;) {
    if (wait.take_cancel())
      return fail(Errc::cancelled, "camera: cancel() was called", "{}", mode.path);
    if (away && Clock::now() >= next_try) reopen().has_value();
    if (!away) {
      auto frame = pull();
      if (options.pool) wait_for_pool();
      if (frame && *frame) return **std::move(frame);
      if (frame && has_failed)
        frame = make_error(Errc::device, "camera: its driver reports an error", mode.path, EIO);
      if (!frame) {
        if (!options.reopens || !capture::is_camera_gone(frame.error())) return frame.error();
        note_failure(frame.error());
        has_failed = false;
        if (Clock::now() >= next_try) continue;
      }
    }
    const auto left = std::chrono::ceil<milliseconds>(end - Clock::now());
    if (left <= milliseconds::zero()) return late(timeout);
    HALYARD_TRY(has_failed, wait.wait(is_endless ? patience : left));
    if (is_endless && feed->is_starved()) tell_starved();
  }
}

Result<std::vector<CameraControl>> Camera::Impl::controls() const {
  if (fork_generation() != process)
    return fail(Errc::unsupported, "camera: a child of fork() cannot use it");
  return feed->controls();
}

Result<CameraControl> Camera::Impl::control(std::string_view name) const {
  HALYARD_TRY(const auto all, controls());
  return capture::find_control(all, mode.path, name);
}

Camera::Camera(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Camera::Camera(Camera&&) noexcept = default;
Camera& Camera::operator=(Camera&&) noexcept = default;
Camera::~Camera() = default;

Result<Camera> Camera::open(const std::string& path, const CameraOptions& options) {
  trace::Span span("capture.open_camera");
  span.arg("path", std::string_view(path));
  HALYARD_RETURN_IF_ERROR(capture::check_camera_options(options));
  auto impl = std::make_unique<Impl>(path, options);
  HALYARD_RETURN_IF_ERROR(impl->feed->open());
  HALYARD_RETURN_IF_ERROR(impl->wait.create());
  HALYARD_RETURN_IF_ERROR(impl->start());
  return Camera(std::move(impl));
}

Result<Camera> Camera::open(std::size_t index, const CameraOptions& options) {
  const auto cameras = list_cameras();
  if (index >= cameras.size())
    return fail(Errc::not_found, "index: there are fewer cameras", "{} of {}", index,
                cameras.size());
  return open(cameras[index].path, options);
}

const CameraMode& Camera::mode() const noexcept {
  return impl_->mode;
}

Result<CameraFrame> Camera::next(milliseconds timeout) {
  trace::Span span("capture.next_frame");
  auto frame = impl_->next(timeout);
  if (frame) span.arg("sequence", frame->sequence).arg("lost", frame->lost);
  return frame;
}

int Camera::fd() const noexcept {
  return impl_->wait.fd();
}

void Camera::cancel() noexcept {
  impl_->wait.cancel();
}

CameraStats Camera::stats() const {
  const auto& counts = impl_->counts;
  const auto get = [](const auto& value) { return value.load(std::memory_order_relaxed); };
  return {get(counts.frames), get(counts.lost),     get(counts.corrupt), get(counts.dropped),
          get(counts.copies), get(counts.reopened), impl_->feed->held()};
}

Result<std::vector<CameraControl>> Camera::controls() const {
  return impl_->controls();
}

Result<std::int64_t> Camera::control(std::string_view name) const {
  HALYARD_TRY(const CameraControl control, impl_->control(name));
  return capture::number_of_control(control);
}

Status Camera::set_control(std::string_view name, std::int64_t value) {
  HALYARD_TRY(const CameraControl control, impl_->control(name));
  HALYARD_RETURN_IF_ERROR(capture::check_control_value(control, value));
  return impl_->feed->put_control(control, value);
}

Status Camera::set_control(std::string_view name, std::string_view entry) {
  HALYARD_TRY(const CameraControl control, impl_->control(name));
  HALYARD_TRY(const std::int64_t value, capture::value_of_entry(control, entry));
  HALYARD_RETURN_IF_ERROR(capture::check_control_value(control, value));
  return impl_->feed->put_control(control, value);
}

}  // namespace halyard
