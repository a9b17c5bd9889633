# SPDX-License-Identifier: Apache-2.0
"""An RTSP camera of this machine: H.264 by RTP within the RTSP connection (RFC 2326, 10.12; RFC
6184), at 25 frames a second."""
import base64
import re
import socket
import socketserver
import struct
import threading

RATE = 25
LARGEST = 1400  # bytes of a unit in one packet; larger ones are sent in parts (FU-A)


def access_units(avi):
    """The frames of an AVI file with H.264, each a list of its units without start codes."""
    units, at = [], avi.index(b"movi") + 4
    while at + 8 <= len(avi) and avi[at:at + 4] == b"00dc":
        size = struct.unpack_from("<I", avi, at + 4)[0]
        parts = re.split(rb"\x00*\x00\x00\x01", avi[at + 8:at + 8 + size])
        units.append([part for part in parts if part])
        at += 8 + size + size % 2
    return units


def packets(unit):
    if len(unit) <= LARGEST:
        return [unit]
    first, rest = unit[0], unit[1:]
    parts = [rest[at:at + LARGEST] for at in range(0, len(rest), LARGEST)]
    flags = [0x80 if n == 0 else 0x40 if n + 1 == len(parts) else 0 for n in range(len(parts))]
    return [bytes([first & 0x60 | 28, flag | first & 0x1F]) + part
            for flag, part in zip(flags, parts)]


class RtspCamera:
    """Sends the frames to each connection, again and again, until close(). With `password`, user
    "me" is asked for it."""

    def __init__(self, frames, port=0, password=""):
        self.frames, self.plays, self.is_over = frames, 0, threading.Event()
        self.wanted = base64.b64encode(f"me:{password}".encode()).decode() if password else ""
        camera = self

        class Connection(socketserver.StreamRequestHandler):
            def handle(self):
                camera.serve(self)

        class Server(socketserver.ThreadingTCPServer):
            allow_reuse_address = True
            daemon_threads = True

        self.peers = []
        self.server = Server(("127.0.0.1", port), Connection)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def address(self, user=""):
        return f"rtsp://{user}127.0.0.1:{self.port}/live"

    def close(self):
        """Ends all connections, and accepts no more."""
        self.is_over.set()
        self.server.shutdown()
        self.server.server_close()
        for peer in self.peers:
            try:
                peer.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def serve(self, connection):
        self.peers.append(connection.connection)
        try:
            while not self.is_over.is_set() and self.answer(connection):
                pass
        except OSError:
            pass  # the viewer has left

    def answer(self, connection):
        """The next request; False at the end of the connection."""
        lines = []
        while True:
            line = connection.rfile.readline()
            if not line:
                return False
            if line == b"\r\n":
                break
            lines.append(line.decode().strip())
        method = lines[0].split()[0]
        fields = dict(line.split(": ", 1) for line in lines[1:])
        status, body, more = "200 OK", "", ""
        if method == "OPTIONS":
            more = "Public: OPTIONS, DESCRIBE, SETUP, PLAY, TEARDOWN\r\n"
        elif method == "DESCRIBE" and self.wanted and \
                fields.get("Authorization") != "Basic " + self.wanted:
            status, more = "401 Unauthorized", 'WWW-Authenticate: Basic realm="camera"\r\n'
        elif method == "DESCRIBE":
            more = "Content-Type: application/sdp\r\n"
            body = ("v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=camera\r\nc=IN IP4 0.0.0.0\r\nt=0 0\r\n"
                    "m=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\n"
                    "a=fmtp:96 packetization-mode=1\r\na=control:track0\r\n")
        elif method == "SETUP":
            more = "Transport: RTP/AVP/TCP;unicast;interleaved=0-1\r\n"
        connection.wfile.write((f"RTSP/1.0 {status}\r\nCSeq: {fields['CSeq']}\r\nSession: 1\r\n"
                                f"{more}Content-Length: {len(body)}\r\n\r\n{body}").encode())
        if method == "PLAY":
            self.plays += 1
            self.play(connection.wfile)
        return method not in ("PLAY", "TEARDOWN")

    def play(self, out):
        sequence = number = 0
        while True:
            for frame in self.frames:
                if self.is_over.wait(1 / RATE):
                    return
                parts = [part for unit in frame for part in packets(unit)]
                for n, part in enumerate(parts):
                    is_last = n + 1 == len(parts)
                    head = struct.pack(">BBHII", 0x80, 0xE0 if is_last else 0x60, sequence & 0xFFFF,
                                       90_000 + number * 90_000 // RATE, 1)
                    out.write(struct.pack(">cBH", b"$", 0, len(head) + len(part)) + head + part)
                    sequence += 1
                number += 1
