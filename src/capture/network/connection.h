// SPDX-License-Identifier: Apache-2.0
// Connections to servers through FFmpeg, with a limit on waiting.
#pragma once

#ifdef HALYARD_HAVE_FFMPEG

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "capture/ffmpeg/ffmpeg.h"
#include "capture/source.h"

namespace halyard::capture {

/// FFmpeg asks it while waiting whether to give up. Thread-bound.
class Watch {
 public:
  explicit Watch(const Options& options)
      : is_cancelled_(options.load.is_cancelled), patience_(options.network_timeout) {}
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// Call it before each call that may wait.
  void begin() noexcept { until_ = std::chrono::steady_clock::now() + patience_; }
  AVIOInterruptCB callback() noexcept { return {&Watch::ask, this}; }
  /// Why a call of FFmpeg failed with `code`. Errors: cancelled, timeout, not_found and permission
  /// (the answers of an HTTP server), os, or else `otherwise`.
  Error failure(const char* what, int code, const std::string& name, Errc otherwise) const;

 private:
  static int ask(void* watch) noexcept;
  std::function<bool()> is_cancelled_;
  std::chrono::milliseconds patience_;
  std::chrono::steady_clock::time_point until_;
  bool was_cancelled_ = false;
  bool was_late_ = false;
};

/// The data that an HTTP server sends, from the first byte on.
class Connection {
 public:
  /// Errors: those of Watch::failure().
  static Result<std::unique_ptr<Connection>> open(const std::string& address,
                                                  const std::string& name, const Options& options);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  /// Up to `count` bytes from the beginning; only before any other read. Errors: as open().
  Result<std::vector<std::byte>> peek(std::size_t count);
  /// All bytes. Errors: as open(), invalid_argument (more than `max_bytes`).
  Result<std::vector<std::byte>> read_all(std::size_t max_bytes);
  AVIOContext* io() noexcept { return io_; }
  const std::shared_ptr<Watch>& watch() const noexcept { return watch_; }

 private:
  Connection(std::string name, std::shared_ptr<Watch> watch)
      : name_(std::move(name)), watch_(std::move(watch)) {}
  std::string name_;
  std::shared_ptr<Watch> watch_;
  AVIOContext* io_ = nullptr;
};

/// FFmpeg options by name; frees them.
class Dictionary {
 public:
  Dictionary() = default;
  Dictionary(const Dictionary&) = delete;
  Dictionary& operator=(const Dictionary&) = delete;
  ~Dictionary() { ffmpeg().av_dict_free(&entries); }
  void set(const char* key, const char* value) { ffmpeg().av_dict_set(&entries, key, value, 0); }

  AVDictionary* entries = nullptr;
};

}  // namespace halyard::capture

#endif
