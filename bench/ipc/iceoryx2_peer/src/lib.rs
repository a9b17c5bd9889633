// SPDX-License-Identifier: Apache-2.0
//! iceoryx2 for ../iceoryx2_peer.cpp, so that the same code measures all transports: C functions around
//! the Rust interface. Service variant `ipc`, byte slices loaned without initialization, default
//! configuration except for 16 subscribers that keep 16 messages each. An event service wakes a blocked
//! subscriber. A failure aborts with its reason.
use core::ffi::{c_char, c_void, CStr};
use core::mem::MaybeUninit;
use iceoryx2::port::{listener::Listener, notifier::Notifier};
use iceoryx2::port::{publisher::Publisher, subscriber::Subscriber};
use iceoryx2::prelude::*;
use iceoryx2::sample::Sample;
use iceoryx2::sample_mut_uninit::SampleMutUninit;
use iceoryx2::service::port_factory::{event, publish_subscribe};

type Service = ipc::Service;
type Data = publish_subscribe::PortFactory<Service, [u8], ()>;
type Events = event::PortFactory<Service>;

pub struct Sender {
    bytes: usize,
    loaned: Option<SampleMutUninit<Service, [MaybeUninit<u8>], ()>>,
    publisher: Publisher<Service, [u8], ()>,
    notifier: Option<Notifier<Service>>,
    data: Data,
}

pub struct Receiver {
    taken: Option<Sample<Service, [u8], ()>>,
    subscriber: Subscriber<Service, [u8], ()>,
    listener: Option<Listener<Service>>,
    data: Data,
}

fn text(from: *const c_char) -> &'static str {
    unsafe { CStr::from_ptr(from) }.to_str().expect("UTF-8")
}

/// The services of a topic; the event service only if somebody waits.
fn open(node: &Node<Service>, topic: *const c_char, wakes: bool) -> (Data, Option<Events>) {
    let name: ServiceName = text(topic).try_into().expect("a name");
    let data = node.service_builder(&name).publish_subscribe::<[u8]>();
    let data = data.max_subscribers(16).subscriber_max_buffer_size(16);
    let events = wakes.then(|| node.service_builder(&name).event().open_or_create());
    (data.open_or_create().expect("a service"), events.map(|one| one.expect("an event service")))
}

/// All its files have names with this prefix.
#[no_mangle]
pub extern "C" fn peer_node(prefix: *const c_char) -> *mut Node<Service> {
    set_log_level(LogLevel::Error);
    let mut config = Config::default();
    config.global.prefix = FileName::new(text(prefix).as_bytes()).expect("a prefix");
    let builder = NodeBuilder::new().config(&config);
    let node = builder.signal_handling_mode(SignalHandlingMode::Disabled).create::<Service>();
    Box::into_raw(Box::new(node.expect("a node")))
}

#[no_mangle]
pub extern "C" fn peer_node_delete(node: *mut Node<Service>) {
    drop(unsafe { Box::from_raw(node) });
}

#[no_mangle]
pub extern "C" fn peer_sender(
    node: &Node<Service>,
    topic: *const c_char,
    bytes: usize,
    wakes: bool,
) -> *mut Sender {
    let (data, events) = open(node, topic, wakes);
    let publisher = data.publisher_builder().initial_max_slice_len(bytes).create();
    let notifier = events.map(|events| events.notifier_builder().create().expect("a notifier"));
    let publisher = publisher.expect("a publisher");
    Box::into_raw(Box::new(Sender { bytes, loaned: None, publisher, notifier, data }))
}

#[no_mangle]
pub extern "C" fn peer_sender_delete(sender: *mut Sender) {
    drop(unsafe { Box::from_raw(sender) });
}

#[no_mangle]
pub extern "C" fn peer_subscribers(sender: &Sender) -> usize {
    sender.data.dynamic_config().number_of_subscribers()
}

#[no_mangle]
pub extern "C" fn peer_loan(sender: &mut Sender) -> *mut c_void {
    let sample = sender.publisher.loan_slice_uninit(sender.bytes).expect("memory to loan");
    sender.loaned.insert(sample).payload_mut().as_mut_ptr().cast()
}

#[no_mangle]
pub extern "C" fn peer_send(sender: &mut Sender) {
    let sample = sender.loaned.take().expect("a loaned sample");
    unsafe { sample.assume_init() }.send().expect("sending");
    if let Some(notifier) = &sender.notifier {
        notifier.notify().expect("notifying");
    }
}

#[no_mangle]
pub extern "C" fn peer_discard(sender: &mut Sender) {
    sender.loaned = None;
}

#[no_mangle]
pub extern "C" fn peer_receiver(
    node: &Node<Service>,
    topic: *const c_char,
    wakes: bool,
) -> *mut Receiver {
    let (data, events) = open(node, topic, wakes);
    let subscriber = data.subscriber_builder().create().expect("a subscriber");
    let listener = events.map(|events| events.listener_builder().create().expect("a listener"));
    Box::into_raw(Box::new(Receiver { taken: None, subscriber, listener, data }))
}

#[no_mangle]
pub extern "C" fn peer_receiver_delete(receiver: *mut Receiver) {
    drop(unsafe { Box::from_raw(receiver) });
}

#[no_mangle]
pub extern "C" fn peer_publishers(receiver: &Receiver) -> usize {
    receiver.data.dynamic_config().number_of_publishers()
}

#[no_mangle]
pub extern "C" fn peer_take(receiver: &mut Receiver) -> *const c_void {
    match receiver.subscriber.receive().expect("receiving") {
        Some(sample) => receiver.taken.insert(sample).payload().as_ptr().cast(),
        None => core::ptr::null(),
    }
}

#[no_mangle]
pub extern "C" fn peer_release(receiver: &mut Receiver) {
    receiver.taken = None;
}

#[no_mangle]
pub extern "C" fn peer_wait(receiver: &Receiver) {
    let listener = receiver.listener.as_ref().expect("a listener");
    listener.blocking_wait(|_| {}).expect("waiting");
}
