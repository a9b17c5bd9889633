// SPDX-License-Identifier: Apache-2.0
// The scenarios with Halyard's pools and topics: numbers as plain messages, all else as tensors in
// the topic's pool.
#include <halyard/topic.h>

#include <cstdlib>
#include <optional>
#include <string>

#include "scenarios.h"

namespace {

using namespace halyard::bench;

template <class T>
T value_of(halyard::Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message());
  return *std::move(result);
}

struct Halyard {
  static void enter(const char*) {
    setenv("HALYARD_NAMESPACE", ("bench" + std::to_string(getppid())).c_str(), 1);
  }
  static halyard::TopicConfig config(halyard::TopicRole role) {
    halyard::TopicConfig config;
    config.role = role;
    return config;
  }

  class Publisher {
   public:
    Publisher(const char* topic, std::size_t bytes) : bytes_(bytes) {
      const auto mine = config(halyard::TopicRole::publisher);
      if (bytes == sizeof(number_)) {
        numbers_.emplace(value_of(halyard::Topic<std::uint64_t>::create(topic, mine)));
      } else {
        tensors_.emplace(value_of(halyard::Topic<halyard::Tensor>::create(topic, mine)));
        pool_ = value_of(tensors_->pool());
      }
    }
    bool connected(int n) {
      const auto stats = numbers_ ? numbers_->stats() : tensors_->stats();
      return stats.subscribers >= static_cast<unsigned>(n);
    }
    void* loan() {
      if (numbers_) return &number_;
      handle_ = value_of(pool_->alloc({bytes_}, halyard::DType::u8));
      return value_of(handle_.data_slice_mut()).data();
    }
    void send(void*) {
      const auto sent = numbers_ ? numbers_->send(number_) : tensors_->send(handle_);
      if (!sent) throw std::runtime_error(sent.error().message());
      handle_ = {};
    }
    void discard(void*) { handle_ = {}; }
    void retain() { second_ = handle_; }
    void let_go() { second_ = {}; }

   private:
    std::size_t bytes_;
    std::uint64_t number_ = 0;
    std::optional<halyard::Topic<std::uint64_t>> numbers_;
    std::optional<halyard::Topic<halyard::Tensor>> tensors_;
    std::shared_ptr<halyard::TensorPool> pool_;
    halyard::TensorHandle handle_, second_;
  };

  class Subscriber {
   public:
    Subscriber(const char* topic, std::size_t bytes, bool latest_only = false) {
      auto mine = config(halyard::TopicRole::subscriber);
      mine.latest_only = latest_only;
      if (bytes == sizeof(number_)) {
        numbers_.emplace(value_of(halyard::Topic<std::uint64_t>::create(topic, mine)));
      } else {
        tensors_.emplace(value_of(halyard::Topic<halyard::Tensor>::create(topic, mine)));
      }
    }
    bool connected() { return (numbers_ ? numbers_->stats() : tensors_->stats()).publishers >= 1; }
    const void* take() {
      if (numbers_) {
        const auto got = numbers_->recv();
        if (!got) return nullptr;
        number_ = *got;
        return &number_;
      }
      auto got = tensors_->recv_handle();
      if (!got) return nullptr;
      handle_ = *std::move(got);
      return value_of(handle_.data_slice()).data();
    }
    void release(const void*) { handle_ = {}; }
    std::uint64_t lost() { return (numbers_ ? numbers_->stats() : tensors_->stats()).lost; }
    void wait() {
      if (numbers_) {
        numbers_->wait_for(std::chrono::seconds(10));
      } else {
        tensors_->wait_for(std::chrono::seconds(10));
      }
    }

   private:
    std::uint64_t number_ = 0;
    std::optional<halyard::Topic<std::uint64_t>> numbers_;
    std::optional<halyard::Topic<halyard::Tensor>> tensors_;
    halyard::TensorHandle handle_;
  };

  class Waiter {
   public:
    explicit Waiter(Subscriber& subscriber) : subscriber_(subscriber) {}
    void wait() { subscriber_.wait(); }

   private:
    Subscriber& subscriber_;
  };
};

/// A subscriber that reads only the newest message.
struct Latest : Halyard {
  class Subscriber : public Halyard::Subscriber {
   public:
    Subscriber(const char* topic, std::size_t bytes) : Halyard::Subscriber(topic, bytes, true) {}
  };
};

/// Slots of a pool, by descriptors without handles.
struct Slots {
  static void enter(const char* role) { Halyard::enter(role); }

  class Publisher {
   public:
    Publisher(const char*, std::size_t bytes)
        : bytes_(bytes), pool_(value_of(halyard::default_pool())) {}
    void* loan() {
      slot_ = value_of(pool_->alloc_slot({bytes_}, halyard::DType::u8));
      return &slot_;
    }
    void discard(void*) {
      if (!pool_->release(slot_)) throw std::runtime_error("the slot was gone");
    }
    void retain() { expect(pool_->retain(slot_).has_value(), "the slot was gone"); }
    void let_go() { expect(pool_->release(slot_).has_value(), "the slot was gone"); }

   private:
    std::size_t bytes_;
    std::shared_ptr<halyard::TensorPool> pool_;
    halyard::TensorDescriptor slot_;
  };
};

}  // namespace

int main(int argc, char** argv) {
  Bench bench("halyard", parse(argc, argv, "Times Halyard's pools and topics."));
  run_all<Halyard>(bench, "handle");
  for (const Size& size : alloc_sizes)
    bench.scenario(std::string("alloc_") + size.name, "slot",
                   [&] { alloc<Slots>(bench, "slot", size); });
  bench.scenario("slow_reader", "latest only", [&] { slow_reader<Latest>(bench, "latest only"); });
  bench.scenario("retain", "handle", [&] { retain<Halyard>(bench, "handle"); });
  bench.scenario("retain", "slot", [&] { retain<Slots>(bench, "slot"); });
  return bench.exit_code();
}
