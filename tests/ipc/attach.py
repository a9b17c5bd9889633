# SPDX-License-Identifier: Apache-2.0
# Long: one file is all that a program needs to attach.
"""A subscriber of a topic of frames without Halyard: Python's standard library and what
docs/shared-memory.md says. Offsets, sizes and numbers are read from the tables of the page.

    attach.py PAGE TOPIC [--ask]

Joins the topic, then does what it reads from its standard input, line by line, and says what it
found: `recv`, `check` (the bytes of the frame it holds), `give` (the frame back), `refusals` (codes
of requests that the publisher refuses), `leave`. With --ask it declines offers, and asks for
memory itself.
"""
import ctypes
import fcntl
import hashlib
import mmap
import os
import platform
import re
import select
import socket
import stat
import sys
import threading
import time

SEALS = 0x1 | 0x2 | 0x4 | 0x10  # SEAL, SHRINK, GROW, FUTURE_WRITE
DTYPES = ["f32", "f64", "f16", "bf16", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "bool"]
DTYPE_BYTES = [4, 8, 2, 2, 1, 2, 4, 8, 1, 2, 4, 8, 1]


class Page:
    """The tables of docs/shared-memory.md."""

    def __init__(self, path):
        self.size, self.fields, self.number, structure = {}, {}, {}, None
        with open(path, encoding="ascii") as page:
            for line in page:
                if heading := re.match(r"### (\w+), (\d+) bytes", line):
                    structure = heading[1]
                    self.size[structure] = int(heading[2])
                    self.fields[structure] = {}
                elif line.startswith("#"):
                    structure = None
                elif field := re.match(r"\| (\d+) \| (\d+) \| `(\w+)` \|", line):
                    self.fields[structure][field[3]] = (int(field[1]), int(field[2]))
                elif number := re.search(r"\| `([\w.]+)` \| (0x[0-9A-F]+|\d+) \|", line):
                    self.number[number[1]] = int(number[2], 0)

    def get(self, data, structure, field, at=0):
        offset, size = self.fields[structure][field]
        return int.from_bytes(data[at + offset:at + offset + size], "little")

    def put(self, data, structure, at=0, **values):
        for field, value in values.items():
            offset, size = self.fields[structure][field]
            data[at + offset:at + offset + size] = value.to_bytes(size, "little")

    def make(self, structure, **values):
        data = bytearray(self.size[structure])
        self.put(data, structure, **values)
        return bytes(data)


def fence():
    """A full barrier: membarrier(2), all processors; a lock, where that orders as much."""
    membarrier = {"x86_64": 324, "aarch64": 283}.get(platform.machine())
    if membarrier and ctypes.CDLL(None).syscall(membarrier, 1, 0, 0) == 0:
        return
    assert platform.machine() == "x86_64", "no barrier on this machine"
    with threading.Lock():
        pass


class Words:
    """Memory as words: each one is loaded and stored whole."""

    def __init__(self, memory):
        self.memory = memory
        self.words = memoryview(memory).cast("Q")

    def load(self, offset):
        assert offset % 8 == 0
        return self.words[offset // 8]

    def store(self, offset, value):
        assert offset % 8 == 0
        self.words[offset // 8] = value


def own_memory(name, size):
    """Memory that this process alone writes, and a descriptor for others."""
    fd = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.fchmod(fd, 0o600)
    os.ftruncate(fd, size)
    memory = mmap.mmap(fd, size)
    fcntl.fcntl(fd, 1033, SEALS)  # F_ADD_SEALS
    return fd, memory


def peer_memory(fd, min_size):
    """Memory of a peer, for reading."""
    assert fcntl.fcntl(fd, 1034) & 0x2, "not sealed against shrinking"  # F_GET_SEALS
    assert os.fstat(fd).st_size >= min_size, "too small"
    memory = mmap.mmap(fd, 0, prot=mmap.PROT_READ)
    os.close(fd)
    return memory


def random_number():
    return int.from_bytes(os.urandom(8), "little") | 1


class Refused(Exception):
    """(code, text)"""


class Node:
    """This process's socket, and its connections to others."""

    def __init__(self, page, registry):
        self.page, self.folder = page, registry + "/nodes/"
        self.high, self.low = random_number(), random_number()
        self.name = f"{self.high:016x}{self.low:016x}"
        self.links, self.answers = {}, {}
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        fresh = self.folder + self.name[:-1] + "~"
        self.listener.bind(fresh)
        os.chmod(fresh, 0o600)
        self.listener.listen()
        os.rename(fresh, self.folder + self.name)
        threading.Thread(target=self.serve, daemon=True).start()

    def send(self, link, kind, number, request=0, code=0, key=b"", body=b"", fds=()):
        n = self.page.number
        head = self.page.make(
            "PacketHead", magic=n["packet.magic"], version=n["packet.version"],
            kind=n["kind." + kind], number=number, from_high=self.high, from_low=self.low,
            request=request, code=code, key_bytes=len(key), body_bytes=len(body))
        socket.send_fds(link, [head + key + body], list(fds))

    def receive(self, link):
        """(head, key, body, descriptors); None: the connection has ended."""
        data, fds, flags, _ = socket.recv_fds(link, 16384, 32)
        if not data:
            return None
        size, get = self.page.size["PacketHead"], self.page.get
        assert not flags & (socket.MSG_TRUNC | socket.MSG_CTRUNC) and len(data) >= size
        assert get(data, "PacketHead", "magic") == self.page.number["packet.magic"]
        assert get(data, "PacketHead", "version") == self.page.number["packet.version"]
        key_bytes = get(data, "PacketHead", "key_bytes")
        assert size + key_bytes + get(data, "PacketHead", "body_bytes") == len(data)
        return data[:size], data[size:size + key_bytes], data[size + key_bytes:], fds

    def link_to(self, node):
        if node not in self.links:
            link = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            link.connect(self.folder + node)
            self.links[node] = [link, 0]
        return self.links[node]

    def ask(self, node, key, request, body=b"", fds=()):
        """[(body, descriptors)], one of each service there."""
        link = self.link_to(node)
        link[1] += 1
        self.send(link[0], "request", link[1], self.page.number[request], key=key.encode(),
                  body=body, fds=fds)
        answers, refusals, number = [], [], self.page.number
        while packet := self.receive(link[0]):
            head, _, text, fds = packet
            kind, code = (self.page.get(head, "PacketHead", name) for name in ("kind", "code"))
            assert self.page.get(head, "PacketHead", "number") == link[1]
            assert self.sender(head) == node
            if kind == number["kind.failure"]:
                refusals.append((code, text.decode()))
                continue
            if kind == number["kind.end"]:
                if refusals or code:
                    raise Refused(*(refusals + [(code, "nobody answers for the key")])[0])
                return answers
            assert kind == number["kind.answer"]
            answers.append((text, fds))
        raise ConnectionError("the peer has ended")

    def sender(self, head):
        return (f"{self.page.get(head, 'PacketHead', 'from_high'):016x}"
                f"{self.page.get(head, 'PacketHead', 'from_low'):016x}")

    def notify(self, node):
        self.send(self.link_to(node)[0], "notice", 0)

    def serve(self):
        """Answers requests, by self.answers: key -> function."""
        links = [self.listener]
        while True:
            for link in select.select(links, [], [])[0]:
                if link is self.listener:
                    links.append(link.accept()[0])
                elif not self.serve_one(link):
                    links.remove(link)
                    link.close()

    def serve_one(self, link):
        packet = self.receive(link)
        if packet is None:
            return False
        head, key, body, fds = packet
        number, request, kind = (self.page.get(head, "PacketHead", name)
                                 for name in ("number", "request", "kind"))
        if kind == self.page.number["kind.notice"]:
            return True
        answers = self.answers.get(key.decode())
        answer = answers(self.sender(head), request, body, fds) if answers else None
        if answer:
            self.send(link, "answer", number, request, body=answer[0], fds=answer[1])
        self.send(link, "end", number, request,
                  code=0 if answers else self.page.number["code.not_found"])
        return True


class Arena:
    """Another process's part of a pool."""

    def __init__(self, page, node, owner, slots):
        self.page, self.node, self.owner, self.slots = page, node, owner, slots
        assert 1 <= slots <= 1 << 20
        self.loans_fd, loans = own_memory("loans", 8 * slots)
        self.loans = Words(loans)
        self.token = random_number()

    def map(self, arena_id, fds):
        self.arena_id = arena_id
        records = self.page.size["ArenaHeader"]
        state = peer_memory(fds[0], records + self.page.size["SlotRecord"] * self.slots)
        self.state, self.memory = Words(state), peer_memory(fds[1], 1)
        assert self.page.get(state, "ArenaHeader", "magic") == self.page.number["arena.magic"]
        assert self.page.get(state, "ArenaHeader", "version") == 1
        assert self.page.get(state, "ArenaHeader", "byte_order") == self.page.number["byte_order"]
        assert self.page.get(state, "ArenaHeader", "slots") == self.slots
        assert self.page.get(state, "ArenaHeader", "arena_id") == arena_id
        assert self.page.get(state, "ArenaHeader", "max_bytes") == len(self.memory)
        return self

    def introduction(self):
        return self.page.make("BorrowerToken", number=self.token), [self.loans_fd]

    @classmethod
    def ask_for(cls, page, node, owner, arena_id):
        key = f"arena/{arena_id:016x}"
        facts = node.ask(owner, key, "arena.facts")[0][0]
        arena = cls(page, node, owner, page.get(facts, "ArenaFacts", "slots"))
        body, fds = node.ask(owner, key, "arena.borrow", *arena.introduction())[0]
        assert body == b""
        return arena.map(arena_id, fds)

    def word(self, slot, field):
        return (self.page.size["ArenaHeader"] + self.page.size["SlotRecord"] * slot +
                self.page.fields["SlotRecord"][field][0])

    def is_looked_at(self):
        begin, size = self.page.fields["ArenaHeader"]["borrowers"]
        return any(self.state.load(at) == self.token for at in range(begin, begin + size, 8))

    def borrow(self, slot, generation):
        """(offset, bytes) of the tenant; None: it is gone."""
        closing = self.page.number["closing_bit"]
        assert slot < self.slots and generation % 2 == 1 and not generation & closing
        deadline = time.monotonic() + 2
        while not self.is_looked_at():  # the answer to an offer may still be on its way
            assert time.monotonic() < deadline, "the owner does not look at this process's loans"
        self.loans.store(8 * slot, generation)
        fence()
        for _ in range(1000):
            now = self.state.load(self.word(slot, "generation"))
            if now != generation | closing:
                break
        if now != generation:
            self.loans.store(8 * slot, 0)
            return None
        offset = self.state.load(self.word(slot, "offset"))
        size = self.state.load(self.word(slot, "bytes"))
        assert offset <= len(self.memory) and size <= len(self.memory) - offset
        return offset, size

    def give_back(self, slot):
        self.loans.store(8 * slot, 0)
        fence()
        if self.state.load(self.page.fields["ArenaHeader"]["wants_room"][0]) != 0:
            self.node.notify(self.owner)


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
