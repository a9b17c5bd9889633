// SPDX-License-Identifier: Apache-2.0
// The scenarios with iceoryx2, through iceoryx2_peer/src/lib.rs, which documents its settings.
#include <memory>
#include <string>

#include "scenarios.h"

extern "C" {
struct Node;
struct Sender;
struct Receiver;
Node* peer_node(const char* prefix);
void peer_node_delete(Node*);
Sender* peer_sender(Node*, const char* topic, std::size_t bytes, bool wakes);
void peer_sender_delete(Sender*);
std::size_t peer_subscribers(const Sender*);
void* peer_loan(Sender*);
void peer_send(Sender*);
void peer_discard(Sender*);
Receiver* peer_receiver(Node*, const char* topic, bool wakes);
void peer_receiver_delete(Receiver*);
std::size_t peer_publishers(const Receiver*);
const void* peer_take(Receiver*);
void peer_release(Receiver*);
void peer_wait(const Receiver*);
}

namespace {

using namespace halyard::bench;

template <auto Function>
struct Delete {
  template <class T>
  void operator()(T* object) const {
    Function(object);
  }
};

// One for each process and, because service variant `ipc` is for one thread, for each thread.
thread_local std::unique_ptr<Node, Delete<peer_node_delete>> node;

/// One loaned and one taken message at a time.
template <bool Wakes>
struct Iceoryx2 {
  /// run.py removes remaining files by this prefix.
  static void enter(const char*) {
    node.reset(peer_node(("hlbench" + std::to_string(getppid()) + "_").c_str()));
  }
  static void enter_thread() { enter(nullptr); }

  class Publisher {
   public:
    Publisher(const char* topic, std::size_t bytes)
        : sender_(peer_sender(node.get(), topic, bytes, Wakes)) {}
    bool connected(int n) const {
      return peer_subscribers(sender_.get()) >= static_cast<std::size_t>(n);
    }
    void* loan() { return peer_loan(sender_.get()); }
    void send(void*) { peer_send(sender_.get()); }
    void discard(void*) { peer_discard(sender_.get()); }

   private:
    std::unique_ptr<Sender, Delete<peer_sender_delete>> sender_;
  };

  class Subscriber {
   public:
    Subscriber(const char* topic, std::size_t)
        : receiver_(peer_receiver(node.get(), topic, Wakes)) {}
    bool connected() const { return peer_publishers(receiver_.get()) > 0; }
    const void* take() { return peer_take(receiver_.get()); }
    void release(const void*) { peer_release(receiver_.get()); }
    void wait() const { peer_wait(receiver_.get()); }

   private:
    std::unique_ptr<Receiver, Delete<peer_receiver_delete>> receiver_;
  };

  class Waiter {
   public:
    explicit Waiter(const Subscriber& subscriber) : subscriber_(subscriber) {}
    void wait() { subscriber_.wait(); }

   private:
    const Subscriber& subscriber_;
  };
};

}  // namespace

int main(int argc, char** argv) {
  Bench bench("iceoryx2", parse(argc, argv, "Times iceoryx2 between two processes."));
  run_all<Iceoryx2<false>, Iceoryx2<true>>(bench, "");
  return bench.exit_code();
}
