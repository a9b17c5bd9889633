#!/usr/bin/python3 -IS
# SPDX-License-Identifier: Apache-2.0
"""Process 1 of the machine in tests. Its root is the host's file system, read-only; it lays a
memory file system over that, gives the devices their groups, runs job.sh and stops the machine.

HALYARD_VM_JOB of the kernel command line names the folder of the job, the one place of the host
that the machine writes to: `settings` for job.sh and `keep` in; `booted`, `rc` and the job's own
files out. `keep` lists folders that must be seen at their path even where a memory file system
covers it.

A program, not a shell script, because starting some thirty processes would take longer than the
boot. Where it fails it ends, which is a panic, and the console tells why.
"""
import ctypes
import fcntl
import glob
import os
import socket
import struct
import sys
import time

LIBC = ctypes.CDLL(None, use_errno=True)
MS_BIND = 4096
RB_POWER_OFF = 0x4321FEDC
SIOCSIFFLAGS = 0x8914
IFF_UP = 1
BASE = "/mnt"  # an empty folder that every Debian has
ROOT = BASE + "/merged"
COVERED = ("tmp", "run", "dev/shm")  # memory file systems of the machine over the host's folders
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

# Device nodes by group, all 0660, as Debian's udev rules have them.
GROUPS = {
    "video": ("dma_heap/*", "video*", "media*", "v4l-*", "vbi*", "radio*", "swradio*", "dri/card*"),
    "render": ("dri/renderD*",),
    "kvm": ("udmabuf",),
}


def mount(kind, target, options="", source="none", flags=0):
    os.makedirs(target, exist_ok=True)
    arguments = [os.fsencode(text) for text in (source, target, kind)]
    if LIBC.mount(*arguments, ctypes.c_ulong(flags), os.fsencode(options)) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"mount {kind} {options}: {os.strerror(number)}", target)


def make_root():
    mount("tmpfs", BASE)
    for folder in ("upper", "scratch", "merged"):
        os.mkdir(f"{BASE}/{folder}")
    mount("overlay", ROOT, f"lowerdir=/,upperdir={BASE}/upper,workdir={BASE}/scratch")
    mount("proc", ROOT + "/proc")
    mount("sysfs", ROOT + "/sys")
    mount("debugfs", ROOT + "/sys/kernel/debug")
    mount("devtmpfs", ROOT + "/dev")
    mount("devpts", ROOT + "/dev/pts")
    for folder in COVERED:
        mount("tmpfs", f"{ROOT}/{folder}", "mode=1777")


def group_id(name):
    """The id of a group; made in the machine's copy of /etc/group where the host has none."""
    with open(ROOT + "/etc/group", "r+", encoding="utf-8") as file:
        ids = {}
        for line in file:
            fields = line.split(":")
            if len(fields) > 2:
                ids[fields[0]] = int(fields[2])
        if name not in ids:
            ids[name] = next(i for i in range(950, 1000) if i not in ids.values())
            file.write(f"{name}:x:{ids[name]}:\n")
        return ids[name]


def own_devices():
    for name, patterns in GROUPS.items():
        number = group_id(name)
        for pattern in patterns:
            for node in glob.glob(f"{ROOT}/dev/{pattern}"):
                os.chown(node, 0, number)
                os.chmod(node, 0o660)


def write_udev():
    """What udev's daemon would know of the devices of video: that they are ready. libcamera takes
    no others."""
    os.makedirs(ROOT + "/run/udev/data")
    for file in glob.glob(ROOT + "/sys/class/video4linux/*/dev") + \
            glob.glob(ROOT + "/sys/bus/media/devices/*/dev"):
        with open(file, encoding="utf-8") as node:
            number = node.read().strip()
        with open(f"{ROOT}/run/udev/data/c{number}", "w", encoding="utf-8") as out:
            out.write("I:1\n")


def start_loopback():
    """The only network: programs of the machine reach each other."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        fcntl.ioctl(handle, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))


def mount_job(job):
    """The folder of the job at its own path, and before it what `keep` lists."""
    mount("hostfs", BASE + "/job", job)
    with open(BASE + "/job/keep", encoding="utf-8") as file:
        for folder in file.read().splitlines():
            if any(f"{folder}/".startswith(f"/{covered}/") for covered in COVERED):
                mount("none", ROOT + folder, source=folder, flags=MS_BIND)
    mount("none", ROOT + job, source=BASE + "/job", flags=MS_BIND)


def run_job(job):
    """Runs job.sh to its end, and takes in every process that has lost its parent."""
    script = os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), "job.sh")
    child = os.fork()
    if child == 0:
        os.chroot(ROOT)
        os.chdir("/")
        home = os.path.expanduser("~root")
        os.execve("/bin/bash", ["bash", script, job + "/settings"],
                  {"PATH": PATH, "HOME": home, "LANG": "C.UTF-8", "TERM": "linux"})
    while True:
        process, status = os.wait()
        if process == child:
            return os.waitstatus_to_exitcode(status)


def main():
    job = os.environ["HALYARD_VM_JOB"]
    LIBC.sethostname(b"halyard", 7)
    make_root()
    own_devices()
    write_udev()
    start_loopback()
    mount_job(job)
    with open(f"{BASE}/job/booted", "w", encoding="utf-8") as file:
        file.write(f"{time.clock_gettime(time.CLOCK_BOOTTIME):.2f} {time.time():.2f}\n")
    code = run_job(job)
    with open(f"{BASE}/job/rc", "w", encoding="utf-8") as file:
        file.write(f"{code}\n")
    os.sync()
    LIBC.reboot(RB_POWER_OFF)


main()
