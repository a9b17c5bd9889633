// SPDX-License-Identifier: Apache-2.0
// The scenarios with iceoryx 2.0, whose daemon must run with iceoryx_roudi.toml. Untyped publishers
// and subscribers, no history; polling takes available messages, waiting uses a WaitSet.
#include <iceoryx_hoofs/log/logmanager.hpp>
#include <iceoryx_posh/popo/untyped_publisher.hpp>
#include <iceoryx_posh/popo/untyped_subscriber.hpp>
#include <iceoryx_posh/popo/wait_set.hpp>
#include <iceoryx_posh/runtime/posh_runtime.hpp>

#include <string>

#include "scenarios.h"

namespace {

using namespace halyard::bench;

struct Iceoryx {
  static void enter(const char* role) {
    iox::log::LogManager::GetLogManager().SetDefaultLogLevel(
        iox::log::LogLevel::kError, iox::log::LogLevelOutput::kHideLogLevel);
    const std::string name = std::string("bench_") + role + "_" + std::to_string(getpid());
    iox::runtime::PoshRuntime::initRuntime(
        iox::RuntimeName_t(iox::cxx::TruncateToCapacity, name.c_str()));
  }

  static iox::capro::ServiceDescription topic_named(const char* topic) {
    return {"bench", "ipc", iox::capro::IdString_t(iox::cxx::TruncateToCapacity, topic)};
  }

  class Publisher {
   public:
    Publisher(const char* topic, std::size_t bytes)
        : bytes_(static_cast<std::uint32_t>(bytes)), port_(topic_named(topic)) {}
    /// The daemon connects them one by one; each subscriber knows when it is connected.
    bool connected(int) const { return port_.hasSubscribers(); }
    void* loan() {
      auto memory = port_.loan(bytes_);
      expect(!memory.has_error(), "nothing to loan");
      return memory.value();
    }
    void send(void* memory) { port_.publish(memory); }
    void discard(void* memory) { port_.release(memory); }

   private:
    std::uint32_t bytes_;
    iox::popo::UntypedPublisher port_;
  };

  class Subscriber {
   public:
    Subscriber(const char* topic, std::size_t) : port_(topic_named(topic)) {}
    bool connected() const {
      return port_.getSubscriptionState() == iox::SubscribeState::SUBSCRIBED;
    }
    const void* take() {
      auto message = port_.take();
      return message.has_error() ? nullptr : message.value();
    }
    void release(const void* message) { port_.release(message); }
    iox::popo::UntypedSubscriber& port() { return port_; }

   private:
    iox::popo::UntypedSubscriber port_;
  };

  class Waiter {
   public:
    explicit Waiter(Subscriber& subscriber) {
      expect(!set_.attachState(subscriber.port(), iox::popo::SubscriberState::HAS_DATA).has_error(),
             "the WaitSet takes no subscriber");
    }
    void wait() { set_.wait(); }

   private:
    iox::popo::WaitSet<> set_;
  };
};

}  // namespace

int main(int argc, char** argv) {
  Bench bench("iceoryx",
              parse(argc, argv, "Times iceoryx between two processes; needs iox-roudi."));
  run_all<Iceoryx>(bench, "");
  return bench.exit_code();
}
