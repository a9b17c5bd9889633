# SPDX-License-Identifier: Apache-2.0
"""What attach.py stands on: the tables of docs/shared-memory.md, memory of its own and of peers,
the packets between processes, and other processes' arenas. Offsets, sizes and numbers are read from
the page."""
import ctypes
import fcntl
import mmap
import os
import platform
import re
import select
import socket
import threading
import time

SEALS = 0x1 | 0x2 | 0x4 | 0x10  # SEAL, SHRINK, GROW, FUTURE_WRITE


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
