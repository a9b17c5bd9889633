// SPDX-License-Identifier: Apache-2.0
// Encoding a video takes longer than a JPEG, so that frames do not wait for it.
#include "serve/recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "halyard/capture.h"
#include "halyard/trace.h"
#include "input/frame_names.h"

namespace halyard::tool {
namespace {

constexpr std::size_t max_queued = 8;

std::string file_name() {
  const std::time_t now = std::time(nullptr);
  std::tm local = {};
  ::localtime_r(&now, &local);
  std::array<char, 64> text{};
  std::strftime(text.data(), text.size(), "halyard-%Y%m%d-%H%M%S", &local);
  return text.data();
}

/// A name that no file of the folder has yet.
std::string free_name(const std::string& folder) {
  const std::string base = file_name();
  std::string name = base + ".mp4";
  std::error_code ignored;
  for (int number = 2; std::filesystem::exists(folder + "/" + name, ignored); ++number)
    name = fmt::format("{}-{}.mp4", base, number);
  return name;
}

}  // namespace

Recorder::~Recorder() {
  finish();
}

Status Recorder::start(double rate) {
  if (folder_.empty())
    return make_error(Errc::invalid_argument,
                      "recording needs a folder: start halyard serve with --record-to FOLDER");
  if (VideoWriter::extensions().empty())
    return make_error(Errc::unsupported, "this build writes no video: it has no FFmpeg");
  std::unique_lock lock(mutex_);
  if (state_.is_on) return {};
  if (is_running_) return make_error(Errc::busy, "the last recording is being completed");
  if (thread_.joinable()) thread_.join();
  state_ = {true, true, free_name(folder_), 0, 0, {}};
  is_running_ = true;
  try {
    thread_ = std::thread([this, path = folder_ + "/" + state_.file, rate] { run(path, rate); });
  } catch (const std::system_error& error) {
    state_.is_on = is_running_ = false;
    return make_error(Errc::exhausted, "the system starts no thread", error.what());
  }
  return {};
}

void Recorder::stop() {
  const std::lock_guard lock(mutex_);
  state_.is_on = false;
  changed_.notify_all();
}

void Recorder::finish() {
  stop();
  if (thread_.joinable()) thread_.join();
}

bool Recorder::is_on() const noexcept {
  const std::lock_guard lock(mutex_);
  return state_.is_on;
}

void Recorder::add(Tensor image) {
  const std::lock_guard lock(mutex_);
  if (!state_.is_on) return;
  if (waiting_.size() == max_queued) {
    ++state_.dropped;
    return;
  }
  waiting_.push_back(std::move(image));
  changed_.notify_all();
}

RecorderState Recorder::state() const {
  const std::lock_guard lock(mutex_);
  RecorderState out = state_;
  out.is_available = !folder_.empty() && !VideoWriter::extensions().empty();
  return out;
}

bool Recorder::take(Tensor& image) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !waiting_.empty() || !state_.is_on; });
  if (waiting_.empty()) return false;
  image = std::move(waiting_.front());
  waiting_.pop_front();
  return true;
}

Status Recorder::write_all(const std::string& path, double rate) {
  HALYARD_RETURN_IF_ERROR(make_folder(folder_));
  std::optional<VideoWriter> writer;
  Tensor image;
  while (take(image)) {
    if (!writer) {
      HALYARD_TRY(writer, VideoWriter::create(path, image.size(), std::clamp(rate, 1.0, 240.0)));
    }
    HALYARD_RETURN_IF_ERROR(writer->write(image));
    const std::lock_guard lock(mutex_);
    ++state_.frames;
  }
  if (!writer) return make_error(Errc::invalid_argument, "no frame came while recording");
  return writer->finish();
}

void Recorder::run(std::string path, double rate) {
  trace::set_thread_name("recorder");
  const Status done = write_all(path, rate);
  const std::lock_guard lock(mutex_);
  if (!done) state_.error = done.error().message();
  state_.is_on = false;
  is_running_ = false;
  waiting_.clear();
}

}  // namespace halyard::tool
