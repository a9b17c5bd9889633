# SPDX-License-Identifier: Apache-2.0
"""What a viewer of `halyard serve` costs: processor time for each frame, by turns without a viewer
and with one that takes every image, as Motion JPEG or as H.264. Prints medians over the turns.

    python3 bench/serve_cost.py --program build/halyard --model MODEL.onnx --image PHOTO.jpg
"""
import argparse
import contextlib
import json
import os
import re
import signal
import socket
import statistics
import subprocess
import threading
import time
import urllib.request

TICKS = os.sysconf("SC_CLK_TCK")
# Its path, and the key of what was sent.
STREAMS = {"images": ("/stream.mjpg", "images_sent"), "video": ("/stream.mp4", "segments_sent")}


def processor_seconds(pid):
    fields = open(f"/proc/{pid}/stat", encoding="ascii").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


class Viewer:
    """Takes a stream until it is closed, and counts its bytes."""

    def __init__(self, port, path):
        self.bytes = 0
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        self.thread = threading.Thread(target=self.take)
        self.thread.start()

    def take(self):
        with contextlib.suppress(ConnectionResetError):
            while part := self.socket.recv(1 << 20):
                self.bytes += len(part)

    def close(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.socket.close()


def state_of(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/state") as reply:
        return json.load(reply)


def turn(process, port, seconds, viewers, stream="images"):
    """Milliseconds of processor time for a frame, images sent for a frame, frames a second, and
    bytes for an image."""
    path, key = STREAMS[stream]
    watching = [Viewer(port, path) for _ in range(viewers)]
    time.sleep(0.5)
    before, began = state_of(port), processor_seconds(process.pid)
    begun = sum(viewer.bytes for viewer in watching)
    time.sleep(seconds)
    spent, after = processor_seconds(process.pid) - began, state_of(port)
    taken = sum(viewer.bytes for viewer in watching) - begun
    for viewer in watching:
        viewer.close()
    frames = after["frames"]["passed"] - before["frames"]["passed"]
    sent = after["viewers"][key] - before["viewers"][key]
    return 1000 * spent / frames, sent / frames, frames / seconds, taken / max(sent, 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="build/halyard")
    parser.add_argument("--model", default="examples/harbour/harbour.onnx")
    parser.add_argument("--image", default="examples/harbour/photo.jpg")
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--viewers", type=int, default=1)
    parser.add_argument("--stream", choices=STREAMS, default="images")
    options = parser.parse_args()
    process = subprocess.Popen(
        [options.program, "serve", "--model", options.model, options.image, "--listen", ":0",
         "--threads", "1", "--in-flight", "1"], stdout=subprocess.PIPE, text=True)
    try:
        port = int(re.search(r":(\d+)/$", process.stdout.readline()).group(1))
        turn(process, port, 2, options.viewers, options.stream)  # warm
        alone, watched, rows = [], [], []
        for _ in range(options.turns):
            alone.append(turn(process, port, options.seconds, 0)[0])
            row = turn(process, port, options.seconds, options.viewers, options.stream)
            watched.append(row[0])
            rows.append(row)
        state = state_of(port)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()
    differences = [b - a for a, b in zip(alone, watched)]
    size = f"{state['source']['width']} x {state['source']['height']}"
    sent = statistics.median(row[1] for row in rows)
    rate = statistics.median(row[2] for row in rows)
    size_of_one = statistics.median(row[3] for row in rows)
    print(f"{size}, {options.viewers} viewer(s) of {options.stream}, {sent:.2f} images sent "
          f"a frame, {rate:.1f} frames a second, {size_of_one / 1000:.1f} kB an image")
    print(f"without a viewer {statistics.median(alone):.2f} ms a frame")
    print(f"with             {statistics.median(watched):.2f} ms a frame")
    print(f"difference       {statistics.median(differences):.2f} ms a frame "
          f"({min(differences):.2f} to {max(differences):.2f})")


if __name__ == "__main__":
    main()
