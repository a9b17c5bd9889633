// SPDX-License-Identifier: Apache-2.0
// Recorder: writes the live view's images to a video file, on a thread of its own.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

#include "halyard/result.h"
#include "halyard/tensor.h"

namespace halyard::tool {

struct RecorderState {
  bool is_available = false;  ///< a folder was given
  bool is_on = false;
  std::string file;           ///< name of the last or present file, without its folder
  std::uint64_t frames = 0;   ///< in this file
  std::uint64_t dropped = 0;  ///< came faster than they were encoded
  std::string error;          ///< why the last recording ended early
};

/// Thread-safe.
class Recorder {
 public:
  /// `folder`: where files are made; empty: recording is refused.
  explicit Recorder(std::string folder) : folder_(std::move(folder)) {}
  /// finish().
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// Begins a file named by the time, halyard-20260131-235959.mp4, with the first image that is
  /// added. `rate`: images per second. Does nothing while recording. Errors: invalid_argument (no
  /// folder), unsupported (no FFmpeg), exhausted (no thread).
  Status start(double rate);
  /// Completes the file; returns at once. The file gets its name a little later.
  void stop();
  /// As stop(), and waits for the file.
  void finish();

  /// Whether add() would keep an image.
  bool is_on() const noexcept;
  /// An image (nv12) that nobody changes afterwards. Dropped if eight are waiting.
  void add(Tensor image);
  RecorderState state() const;

 private:
  void run(std::string path, double rate);
  Status write_all(const std::string& path, double rate);
  bool take(Tensor& image);

  std::string folder_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Tensor> waiting_;
  RecorderState state_;
  bool is_running_ = false;  ///< the thread has not finished
  std::thread thread_;
};

}  // namespace halyard::tool
