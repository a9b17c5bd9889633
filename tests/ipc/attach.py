# SPDX-License-Identifier: Apache-2.0
"""A subscriber of a topic of frames without Halyard: Python's standard library and what
docs/shared-memory.md says; attach_protocol.py reads its tables.

    attach.py PAGE TOPIC [--ask]

Joins the topic, then does what it reads from its standard input, line by line, and says what it
found: `recv`, `check` (the bytes of the frame it holds), `give` (the frame back), `refusals` (codes
of requests that the publisher refuses), `leave`. With --ask it declines offers, and asks for
memory itself.
"""
import fcntl
import hashlib
import os
import select
import socket
import stat
import sys
import threading
import time

from attach_protocol import (
    Arena,
    Node,
    Page,
    Refused,
    Words,
    fence,
    own_memory,
    peer_memory,
    random_number,
)

DTYPES = ["f32", "f64", "f16", "bf16", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "bool"]
DTYPE_BYTES = [4, 8, 2, 2, 1, 2, 4, 8, 1, 2, 4, 8, 1]


class Publisher:
    """Another endpoint's messages, and this endpoint's record of them."""

    def __init__(self, page, body, fds, endpoint):
        self.page, self.endpoint = page, endpoint
        self.id = page.get(body, "EndpointFacts", "id")
        self.publishes = page.get(body, "EndpointFacts", "role") & 1
        memory = peer_memory(fds[0], page.size["EndpointHeader"])
        os.close(fds[1])
        get = {f: page.get(memory, "EndpointHeader", f) for f in page.fields["EndpointHeader"]}
        assert get["magic"] == page.number["endpoint.magic"] and get["version"] == 1
        assert get["byte_order"] == page.number["byte_order"] and get["id"] == self.id
        assert get["layout_hash"] == endpoint.layout
        assert get["message_words"] == endpoint.message_words
        assert get["entry_words"] == endpoint.entry_words
        assert get["readers"] <= 1024 and get["entries"] <= 4096
        self.entries, self.memory = get["entries"], Words(memory)
        self.ring = page.size["EndpointHeader"] + page.size["ReaderRecord"] * get["readers"]
        assert self.ring + self.entries * endpoint.entry_words * 8 <= len(memory)
        self.lost, self.record = 0, None

    def head(self):
        return self.memory.load(self.page.fields["EndpointHeader"]["head"][0])

    def begin(self, record, is_late):
        self.record = record
        self.next = max(0, self.head() - (self.endpoint.history if is_late else self.entries))
        self.tell("received", 0)
        self.tell("lost", 0)
        self.tell("position", self.next)
        fence()
        self.tell("publisher", self.id)
        fence()
        if is_late:
            self.next = max(self.next, self.head() - self.endpoint.history)
            self.tell("position", self.next)

    def tell(self, field, value):
        at = self.record + self.page.fields["ReaderRecord"][field][0]
        self.endpoint.memory.store(at, value)

    def read(self):
        """The words of the next message as bytes; None: nothing yet."""
        while True:
            n = self.next
            at = self.ring + n % self.entries * self.endpoint.entry_words * 8
            state_at = at + self.page.fields["RingEntry"]["state"][0]
            first = at + self.page.fields["RingEntry"]["message"][0]
            before = self.memory.load(state_at)
            if before < 2 * n + 2:
                return None
            if before == 2 * n + 2:
                words = [self.memory.load(first + 8 * i)
                         for i in range(self.endpoint.message_words)]
                fence()
                if self.memory.load(state_at) == before:
                    return b"".join(word.to_bytes(8, "little") for word in words)
            self.lose()

    def lose(self):
        there = max(self.next + 1, self.head() - self.endpoint.depth)
        self.lost += there - self.next
        self.next = there

    def done(self):
        self.tell("lost", self.lost)
        fence()
        self.tell("position", self.next)


class Endpoint:
    """A subscriber."""

    def __init__(self, page, topic, declines_offers):
        self.page, self.topic, self.declines_offers = page, topic, declines_offers
        base = os.environ.get("HALYARD_SHM_DIR", "/dev/shm")
        registry = (f"{base}/halyard-{os.geteuid()}/"
                    f"{os.environ.get('HALYARD_NAMESPACE', 'default')}")
        seen = os.stat(os.path.dirname(registry))
        assert seen.st_uid == os.geteuid() and stat.S_IMODE(seen.st_mode) & 0o077 == 0
        self.node = Node(page, registry)
        self.folder = f"{registry}/topics/{topic.replace('/', '+')}"
        self.id, self.arenas, self.publishers = random_number(), {}, []
        self.peers, self.lock = [], threading.Lock()
        self.file = f"{self.folder}/{self.node.name}-{self.id:016x}-s"
        folder = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(folder, fcntl.LOCK_EX)
        assert os.stat(self.folder).st_ino == os.fstat(folder).st_ino, "left just now"
        members = [name for name in os.listdir(self.folder) if not name.startswith("config")]
        with open(self.folder + "/config", encoding="ascii") as config:
            self.config = dict(line.rstrip("\n").split(" ", 1) for line in config)
        self.make_memory()
        self.node.answers["topic/" + topic] = self.answer
        os.close(os.open(self.file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        os.close(folder)
        for node in sorted({member[:32] for member in members}):
            for body, fds in self.node.ask(node, "topic/" + topic, "topic.join",
                                           *self.introduction()):
                self.add(body, fds, True)

    def make_memory(self):
        page, config = self.page, self.config
        assert config["has_frame"] == "1", "this program reads frames"
        self.layout, self.depth = int(config["layout"], 16), int(config["depth"])
        self.history, self.readers = int(config["history"]), int(config["max_endpoints"])
        inline_words = (int(config["inline_bytes"]) + 7) // 8
        self.message_words = page.size["FrameHead"] // 8 + inline_words
        self.entry_words = (1 + self.message_words + 7) // 8 * 8
        size = page.size["EndpointHeader"] + page.size["ReaderRecord"] * self.readers
        self.fd, memory = own_memory("endpoint", size)
        page.put(memory, "EndpointHeader", magic=page.number["endpoint.magic"], version=1,
                 byte_order=page.number["byte_order"], id=self.id, layout_hash=self.layout, role=2,
                 message_words=self.message_words, entry_words=self.entry_words, entries=0,
                 depth=self.depth, readers=self.readers)
        self.memory = Words(memory)
        self.notified, self.notifier = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)

    def introduction(self):
        return (self.page.make("EndpointFacts", id=self.id, role=2),
                [self.fd, self.notifier.fileno()])

    def add(self, body, fds, is_late):
        peer = Publisher(self.page, body, fds, self)
        with self.lock:
            if peer.id in self.peers or not peer.publishes:
                return
            assert len(self.publishers) < self.readers
            self.peers.append(peer.id)
            record = (self.page.size["EndpointHeader"] +
                      self.page.size["ReaderRecord"] * len(self.publishers))
            peer.begin(record, is_late)
            self.publishers.append(peer)

    def answer(self, sender, request, body, fds):
        """On the node's thread. None: no answer, just the end."""
        number = self.page.number
        if request in (number["topic.join"], number["topic.look"]):
            if request == number["topic.join"]:
                self.add(body, fds, False)
            return self.introduction()
        if request == number["topic.leave"]:
            return b"", []
        if request != number["topic.offer"] or self.declines_offers:
            for fd in fds:
                os.close(fd)
            return None
        at = self.page.fields["ArenaOffer"]["facts"][0]
        arena_id = self.page.get(body, "ArenaOffer", "arena_id")
        arena = Arena(self.page, self.node, sender,
                      self.page.get(body, "ArenaFacts", "slots", at)).map(arena_id, fds)
        self.arenas[arena_id] = arena
        return arena.introduction()

    def recv(self, timeout):
        """A frame, borrowed; None: not in time."""
        deadline = time.monotonic() + timeout
        waits = self.page.fields["EndpointHeader"]["waits"][0]
        while True:
            self.memory.store(waits, 2)
            fence()
            for publisher in self.publishers:
                while message := publisher.read():
                    frame = self.take(message)
                    if frame is None:
                        publisher.lose()
                        continue
                    publisher.next += 1
                    publisher.done()
                    self.memory.store(waits, 0)
                    return frame
            if not select.select([self.notified], [], [], deadline - time.monotonic())[0]:
                return None
            self.notified.recv(8)

    def take(self, message):
        """The frame of a message, with its slot borrowed; None: it is gone."""
        get, at = self.page.get, self.page.fields["FrameHead"]["descriptor"][0]
        head = {f: get(message, "FrameHead", f) for f in self.page.fields["FrameHead"]}
        what = {f: get(message, "TensorDescriptor", f, at)
                for f in self.page.fields["TensorDescriptor"]}
        arena_id, owner = head["arena_id"], f"{head['owner_high']:016x}{head['owner_low']:016x}"
        if arena_id not in self.arenas:
            self.arenas[arena_id] = Arena.ask_for(self.page, self.node, owner, arena_id)
        arena, slot = self.arenas[arena_id], what["slot_id"] & 0xFFFFFF
        assert arena.owner == owner
        assert what["pool_id"] == get(arena.state.memory, "ArenaHeader", "pool_id")
        assert what["slot_id"] >> 24 == get(arena.state.memory, "ArenaHeader", "index")
        place = arena.borrow(slot, what["generation_high"] << 32 | what["generation_low"])
        return Frame(self.page, arena, slot, place, message, head, what) if place else None

    def refusals(self):
        """Codes of what a node refuses: a key that it has not, a join without a body."""
        codes, node = [], next(iter(self.node.links))
        self.node.notify(node)  # whoever sends what is no packet loses its connection
        for key in ("arena/none", "topic/" + self.topic):
            try:
                self.node.ask(node, key, "topic.join")
            except Refused as refused:
                codes.append(refused.args[0])
        return codes

    def leave(self):
        for publisher in self.publishers:
            publisher.tell("position", 2**64 - 1)
        del self.node.answers["topic/" + self.topic]
        for arena in self.arenas.values():
            try:
                self.node.ask(arena.owner, f"arena/{arena.arena_id:016x}", "arena.leave",
                              arena.introduction()[0])
            except OSError:
                pass  # has ended
        for node in list(self.node.links):
            try:
                self.node.ask(node, "topic/" + self.topic, "topic.leave", self.introduction()[0])
            except OSError:
                pass  # has ended
        folder = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(folder, fcntl.LOCK_EX)
        os.unlink(self.file)
        if all(name.startswith("config") for name in os.listdir(self.folder)):
            for name in os.listdir(self.folder):
                os.unlink(f"{self.folder}/{name}")
            os.rmdir(self.folder)
        os.close(folder)
        os.unlink(self.node.folder + self.node.name)


class Frame:
    """A borrowed frame: where it lies, and what it is."""

    def __init__(self, page, arena, slot, place, message, head, what):
        self.arena, self.slot = arena, slot
        begin, size = place
        name_at, name_size = page.fields["FrameHead"]["name"]
        self.name = message[name_at:name_at + name_size].split(b"\0")[0].decode()
        at = page.fields["FrameHead"]["descriptor"][0]
        assert what["dtype_code"] < len(DTYPES) and what["ndim"] <= 8 and what["flags"] & 1
        self.dtype = DTYPES[what["dtype_code"]]
        self.shape, self.strides = ([
            int.from_bytes(message[at + page.fields["TensorDescriptor"][field][0] + 8 * i:][:8],
                           "little") for i in range(what["ndim"])] for field in ("dims", "strides"))
        self.image = None
        if head["format"] == 255:
            reach = DTYPE_BYTES[what["dtype_code"]] + sum(
                (extent - 1) * stride for extent, stride in zip(self.shape, self.strides))
            assert what["size"] == reach and what["device_type"] == 0
            assert begin <= what["offset"] and what["offset"] - begin <= size - what["size"]
            self.parts = [(what["offset"], what["size"])]
        else:  # this program knows NV12
            assert head["format"] == 1 and head["planes"] == 2 and self.dtype == "u8"
            width, height = head["width"], head["height"]
            self.image = f"nv12 {width}x{height}"
            self.parts = []
            for plane, rows in (("plane0", height), ("plane1", (height + 1) // 2)):
                offset, stride = head[plane + "_offset"], head[plane + "_stride"]
                assert stride >= width and offset + stride * (rows - 1) + width <= size
                self.parts += [(begin + offset + stride * row, width) for row in range(rows)]

    def digest(self):
        digest = hashlib.sha256()
        for offset, size in self.parts:
            digest.update(self.arena.memory[offset:offset + size])
        return digest.hexdigest()[:16]

    def give_back(self):
        self.arena.give_back(self.slot)


def main():
    page = Page(sys.argv[1])
    endpoint = Endpoint(page, sys.argv[2], "--ask" in sys.argv)
    print("joined", len(endpoint.publishers), flush=True)
    held = None
    for line in sys.stdin:
        word = line.strip()
        if word == "recv":
            if held:
                held.give_back()
            held = endpoint.recv(5)
            lost = sum(publisher.lost for publisher in endpoint.publishers)
            what = held.image or f"{held.dtype} {held.shape}" if held else ""
            print(f"{held.name}, {what}, {held.digest()}, lost {lost}" if held else "nothing",
                  flush=True)
        elif word == "refusals":
            print(endpoint.refusals(), flush=True)
        elif word == "check":
            print(held.digest(), flush=True)
        elif word == "give":
            held.give_back()
            held = None
            print("given", flush=True)
        elif word == "leave":
            if held:
                held.give_back()
            endpoint.leave()
            print("left", flush=True)
            return


if __name__ == "__main__":
    main()
