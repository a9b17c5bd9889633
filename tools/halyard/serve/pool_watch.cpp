// SPDX-License-Identifier: Apache-2.0
#include "serve/pool_watch.h"

#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "halyard/ipc_info.h"
#include "halyard/trace.h"
#include "output/ipc_text.h"

namespace halyard::tool {
namespace {

constexpr std::chrono::seconds interval(1), page_asked_time(10);

}  // namespace

Result<PoolWatch::Look> PoolWatch::look(const std::vector<TopicInfo>& before) {
  Look out;
  HALYARD_TRY(out.topics, list_topics());
  HALYARD_TRY(out.pools, list_pools());
  out.rates = Rates(before, out.topics);
  return out;
}

PoolWatch::~PoolWatch() {
  stop();
}

Status PoolWatch::start() {
  try {
    thread_ = std::thread([this] {
      trace::set_thread_name("pool watch");
      run();
    });
  } catch (const std::system_error& error) {
    return make_error(Errc::exhausted, "the system starts no thread", error.what());
  }
  return {};
}

void PoolWatch::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void PoolWatch::run() {
  std::vector<TopicInfo> before;
  std::unique_lock lock(mutex_);
  while (!is_stopping_) {
    lock.unlock();
    auto seen = look(before);
    lock.lock();
    looked_ = Clock::now();
    error_ = seen ? "" : seen.error().message();
    if (seen) before = seen->topics;
    last_ = seen ? *std::move(seen) : Look();
    changed_.wait_for(lock, interval, [this] { return is_stopping_; });
    changed_.wait(lock, [this] { return is_stopping_ || asked_ + page_asked_time > Clock::now(); });
  }
}

std::string PoolWatch::json() {
  const std::lock_guard lock(mutex_);
  asked_ = Clock::now();
  changed_.notify_all();
  const bool has_looked = looked_ != Clock::time_point{};
  const std::chrono::duration<double, std::milli> age = asked_ - looked_;
  Json out =
      json_document({{"age_ms", has_looked ? Json(static_cast<long>(age.count())) : Json()}});
  out["error"] = error_.empty() ? Json() : Json(error_);
  out.update(describe(last_.pools, last_.topics, last_.rates));
  return json_text(out);
}

}  // namespace halyard::tool
