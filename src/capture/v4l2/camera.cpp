// SPDX-License-Identifier: Apache-2.0
// Camera: opens and starts a camera, waits for its frames, and opens it again after a failure.
#include "halyard/camera.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>

#include "base/local.h"
#include "base/text/format_error.h"
#include "capture/v4l2/camera_choice.h"
#include "capture/v4l2/camera_controls.h"
#include "capture/v4l2/camera_formats.h"
#include "capture/v4l2/camera_images.h"
#include "capture/v4l2/camera_stream.h"
#include "capture/v4l2/camera_wait.h"
#include "halyard/log.h"
#include "halyard/threads.h"
#include "halyard/trace.h"

namespace halyard {

using capture::CameraDevice;
using capture::CameraStream;
using capture::CameraWait;
using capture::DriverFormat;
using capture::FilledBuffer;
using capture::V4l2Calls;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

namespace {

constexpr milliseconds first_pause{100}, longest_pause{5000};
constexpr milliseconds patience{1000};  // with held buffers, before it is logged

// What a driver answers must be what was asked, as far as it was asked.
Status check_answer(const DriverFormat& answer, const capture::CameraChoice& choice) {
  const bool is_sized =
      choice.width == 0 || (answer.width == choice.width && answer.height == choice.height);
  if (answer.fourcc == choice.fourcc && is_sized && !answer.planes.empty()) return {};
  return fail(Errc::unsupported, "camera: its driver chooses another size or format",
              "{}x{} {}, not {}x{} {}", answer.width, answer.height,
              fourcc_to_string(answer.fourcc), choice.width, choice.height,
              fourcc_to_string(choice.fourcc));
}

// Whether a JPEG is at fault, not the machine.
bool is_bad_file(Errc code) noexcept {
  return code == Errc::corrupt || code == Errc::malformed || code == Errc::unsupported ||
         code == Errc::invalid_argument;
}

struct Configured {
  DriverFormat format;
  double rate = 0;
};

Result<Configured> configure(const CameraDevice& device, const CameraOptions& options) {
  const auto formats = capture::list_formats(device);
  HALYARD_TRY(auto choice, capture::choose_mode(formats, options));
  if (choice.width == 0) {
    HALYARD_TRY(const DriverFormat now, device.format());
    choice.width = now.width;
    choice.height = now.height;
  }
  const std::size_t stride = options.images.empty() ? 0 : options.images[0].row_stride_bytes();
  Configured done;
  HALYARD_TRY(done.format, device.set_format(choice.fourcc, choice.width, choice.height, stride));
  HALYARD_RETURN_IF_ERROR(check_answer(done.format, choice));
  HALYARD_TRY(done.rate, device.set_rate(choice.rate));
  CameraSize answered;
  answered.rates = {done.rate};
  if (options.rate > 0 && done.rate > 0 && !answered.has_rate(options.rate))
    return fail(Errc::unsupported, "rate: the camera does not keep it", "{:.4g}, not {:.4g}",
                done.rate, options.rate);
  return done;
}

}  // namespace

struct HALYARD_LOCAL Camera::Impl {
  Impl(V4l2Calls& v4l2, CameraOptions wanted)
      : calls(v4l2),
        options(std::move(wanted)),
        stream(std::make_shared<CameraStream>(options.images)),
        images(options.memory) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() { stream->stop(); }

  Status start(std::unique_ptr<CameraDevice> device);
  Status reopen();
  Result<std::unique_ptr<CameraDevice>> find_again();
  void note_failure(const Error& error);
  void wait_to_reopen();
  Result<std::optional<CameraFrame>> pull();
  Result<std::optional<FilledBuffer>> take_newest();
  Status discard(std::uint32_t index, std::atomic<std::uint64_t>& counter);
  void count_sequence(std::uint32_t number);
  Result<CameraFrame> next(milliseconds timeout);
  Error late(milliseconds timeout) const;
  void tell_starved();
  Result<std::shared_ptr<const CameraDevice>> running() const;

  V4l2Calls& calls;
  const std::uint32_t process = fork_generation();
  CameraOptions options;
  CameraMode mode;
  std::string name;  // with the bus, identifies the camera when it comes back
  std::string bus;
  std::shared_ptr<CameraStream> stream;
  capture::CameraImages images;
  CameraWait wait;

  std::optional<std::uint32_t> last_number;  // the driver's sequence
  std::uint64_t sequence = 0;
  std::uint64_t unreported = 0;  // lost before the frame that is returned next
  std::optional<Error> away;     // why the camera is gone
  milliseconds pause = first_pause;
  Clock::time_point next_try;
  bool has_delivered = false;  // a frame since the camera was opened
  bool has_told_starved = false;

  struct {
    std::atomic<std::uint64_t> frames{0}, lost{0}, corrupt{0}, dropped{0}, copies{0}, reopened{0};
  } counts;
};

Status Camera::Impl::start(std::unique_ptr<CameraDevice> device) {
  HALYARD_TRY(const Configured done, configure(*device, options));
  mode.fourcc = done.format.fourcc;
  mode.width = done.format.width;
  mode.height = done.format.height;
  mode.rate = done.rate;
  const auto code = capture::pixel_code(done.format.fourcc);
  const bool must_map = code->is_jpeg || code->sample_bits != 0;
  name = device->name();
  bus = device->bus();
  const int fd = device->fd();
  HALYARD_RETURN_IF_ERROR(stream->start(std::move(device), done.format, options.buffers, must_map));
  mode.buffers = stream->buffer_count();
  images.prepare(*stream, done.format, mode);
  if (mode.transfer == CameraTransfer::copied)
    log(LogLevel::warn, "capture",
        mode.path + ": the driver exports no buffers; frames are copied");
  last_number.reset();
  return wait.watch(fd);
}

// The camera may have another number after it was plugged in again.
Result<std::unique_ptr<CameraDevice>> Camera::Impl::find_again() {
  std::vector<std::string> paths = calls.nodes();
  paths.insert(paths.begin(), mode.path);
  std::optional<Error> first;
  for (const std::string& path : paths) {
    auto device = CameraDevice::open(calls, path);
    if (device && (*device)->name() == name && (*device)->bus() == bus) return device;
    if (!device && !first) first = device.error();
  }
  if (first) return *first;
  return fail(Errc::not_found, "camera: it is not plugged in", "{}: {}", mode.path, name);
}

Status Camera::Impl::reopen() {
  trace::Span span("capture.reopen");
  auto device = find_again();
  Status done = device ? start(*std::move(device)) : Status(device.error());
  if (done) {
    away.reset();
    counts.reopened.fetch_add(1, std::memory_order_relaxed);
    return {};
  }
  stream->stop();
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
  stream->stop();
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
  return stream->put_back(index);
}

// The next undamaged buffer; with latest_only the newest of those that wait.
Result<std::optional<FilledBuffer>> Camera::Impl::take_newest() {
  std::optional<FilledBuffer> newest;
  // Bounded: a camera that is faster than this loop must not keep it busy.
  for (std::uint32_t n = 0; n <= 2 * mode.buffers; ++n) {
    auto filled = stream->take();
    if (!filled) return newest ? Result<std::optional<FilledBuffer>>(newest) : filled;
    if (!*filled) break;
    count_sequence((*filled)->sequence);
    if ((*filled)->is_damaged || !images.is_complete(**filled)) {
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
    auto image = images.make(*stream, *filled);
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
  if (stream->is_starved())
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
    if (is_endless && stream->is_starved()) tell_starved();
  }
}

Result<std::shared_ptr<const CameraDevice>> Camera::Impl::running() const {
  if (fork_generation() != process)
    return fail(Errc::unsupported, "camera: a child of fork() cannot use it");
  auto device = stream->device();
  if (device == nullptr)
    return make_error(Errc::device, "camera: it was unplugged", mode.path, ENODEV);
  return device;
}

Camera::Camera(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Camera::Camera(Camera&&) noexcept = default;
Camera& Camera::operator=(Camera&&) noexcept = default;
Camera::~Camera() = default;

Result<Camera> Camera::open(const std::string& path, const CameraOptions& options) {
  trace::Span span("capture.open_camera");
  span.arg("path", std::string_view(path));
  HALYARD_RETURN_IF_ERROR(capture::check_camera_options(options));
  V4l2Calls& calls = capture::v4l2_calls();
  HALYARD_TRY(auto device, CameraDevice::open(calls, path));
  auto impl = std::make_unique<Impl>(calls, options);
  impl->mode.path = path;
  HALYARD_RETURN_IF_ERROR(impl->wait.create());
  HALYARD_RETURN_IF_ERROR(impl->start(std::move(device)));
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
  return {get(counts.frames), get(counts.lost),     get(counts.corrupt),  get(counts.dropped),
          get(counts.copies), get(counts.reopened), impl_->stream->held()};
}

Result<std::vector<CameraControl>> Camera::controls() const {
  HALYARD_TRY(const auto device, impl_->running());
  return capture::list_controls(*device);
}

Result<std::int64_t> Camera::control(std::string_view name) const {
  HALYARD_TRY(const auto device, impl_->running());
  return capture::read_control(*device, name);
}

Status Camera::set_control(std::string_view name, std::int64_t value) {
  HALYARD_TRY(const auto device, impl_->running());
  return capture::write_control(*device, name, value);
}

Status Camera::set_control(std::string_view name, std::string_view entry) {
  HALYARD_TRY(const auto device, impl_->running());
  return capture::write_control(*device, name, entry);
}

}  // namespace halyard
