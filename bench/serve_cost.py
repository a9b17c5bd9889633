# SPDX-License-Identifier: Apache-2.0
"""What a viewer of `halyard serve` costs: processor time for each frame, by turns without a viewer
and with one that takes every image. Prints medians over the turns.

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


def processor_seconds(pid):
    fields = open(f"/proc/{pid}/stat", encoding="ascii").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


class Viewer:
    """Takes the image stream until it is closed."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.sendall(b"GET /stream.mjpg HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.thread = threading.Thread(target=self.take)
        self.thread.start()

    def take(self):
        with contextlib.suppress(ConnectionResetError):
            while self.socket.recv(1 << 20):
                pass

    def close(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.socket.close()


def state_of(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/state") as reply:
        return json.load(reply)


def turn(process, port, seconds, viewers):
    """Milliseconds of processor time for a frame, and images sent for a frame."""
    watching = [Viewer(port) for _ in range(viewers)]
    time.sleep(0.5)
    before, began = state_of(port), processor_seconds(process.pid)
    time.sleep(seconds)
    spent, after = processor_seconds(process.pid) - began, state_of(port)
    for viewer in watching:
        viewer.close()
    frames = after["frames"]["passed"] - before["frames"]["passed"]
    sent = after["viewers"]["images_sent"] - before["viewers"]["images_sent"]
    return 1000 * spent / frames, sent / frames, frames / seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="build/halyard")
    parser.add_argument("--model", default="examples/harbour/harbour.onnx")
    parser.add_argument("--image", default="examples/harbour/photo.jpg")
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--viewers", type=int, default=1)
    options = parser.parse_args()
    process = subprocess.Popen(
        [options.program, "serve", "--model", options.model, options.image, "--listen", ":0",
         "--threads", "1", "--in-flight", "1"], stdout=subprocess.PIPE, text=True)
    try:
        port = int(re.search(r":(\d+)/$", process.stdout.readline()).group(1))
        turn(process, port, 2, options.viewers)  # warm
        alone, watched, rows = [], [], []
        for _ in range(options.turns):
            alone.append(turn(process, port, options.seconds, 0)[0])
            row = turn(process, port, options.seconds, options.viewers)
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
    print(f"{size}, {options.viewers} viewer(s), {sent:.2f} images sent a frame, "
          f"{rate:.1f} frames a second")
    print(f"without a viewer {statistics.median(alone):.2f} ms a frame")
    print(f"with             {statistics.median(watched):.2f} ms a frame")
    print(f"difference       {statistics.median(differences):.2f} ms a frame "
          f"({min(differences):.2f} to {max(differences):.2f})")


if __name__ == "__main__":
    main()
