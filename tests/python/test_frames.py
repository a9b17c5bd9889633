# SPDX-License-Identifier: Apache-2.0
"""halyard.open: the frames of images, folders and videos."""
import pathlib
import signal
import socket
import threading
import time

import numpy as np
import pytest

import halyard
from helpers import fails

CLIP = pathlib.Path(__file__).parents[2] / "examples/harbour/clip"


def test_a_folder_gives_its_images_in_order():
    with halyard.open(CLIP) as frames:
        assert len(frames) == 90 and not frames.is_video and frames.rate == 25
        first, second = next(frames), next(frames)
        assert (first.index, second.index, second.timestamp_ns) == (0, 1, 40_000_000)
        assert first.source.endswith("frame_0000.jpg") and first.image.upright_size == (640, 360)
        assert "90 frames" in repr(frames)
        assert sum(1 for _ in frames) == 88
    assert list(frames) == []
    with halyard.open(CLIP, picture_rate=10) as frames:
        assert [frame.timestamp_ns for frame, _ in zip(frames, range(3))] == [0, 10**8, 2 * 10**8]


def test_one_image_is_upright(tmp_path):
    pixels = np.zeros((40, 60, 3), np.uint8)
    pixels[:, :30] = 255
    tensor = halyard.tensor(pixels)
    tensor.set_format("rgb")
    tensor.orientation = (halyard.Flip.NoFlip, halyard.Rotation.Clockwise90)
    tensor.save_jpeg(tmp_path / "lying.jpg", 95)
    (frame,) = halyard.open(tmp_path / "lying.jpg")
    stored = halyard.load(tmp_path / "lying.jpg").orientation
    if stored == (halyard.Flip.NoFlip, halyard.Rotation.Rotate0):
        pytest.skip("save_jpeg wrote no orientation")
    assert frame.image.upright_size == (40, 60)
    assert frame.image.orientation == (halyard.Flip.NoFlip, halyard.Rotation.Rotate0)


def test_a_video_gives_frames_with_their_times(tmp_path):
    cv2 = pytest.importorskip("cv2", reason="cv2 is not installed")
    video = tmp_path / "clip.mp4"
    writer = cv2.VideoWriter(str(video), cv2.VideoWriter_fourcc(*"mp4v"), 10, (640, 360))
    for i in range(12):
        writer.write(cv2.imread(str(CLIP / f"frame_{i:04}.jpg")))
    writer.release()
    try:
        frames = halyard.open(video)
    except halyard.UnsupportedError:
        pytest.skip("this build has no FFmpeg")
    with frames:
        assert frames.is_video and frames.rate == 10
        seen = list(frames)
    assert [frame.index for frame in seen] == list(range(12))
    assert [frame.timestamp_ns for frame in seen[:3]] == [0, 10**8, 2 * 10**8]
    assert seen[3].image.upright_size == (640, 360) and str(seen[3].source) == str(video)
    image = halyard.Tensor.image(640, 360, "rgb", mem="mem")
    halyard.ImageProcessor().convert(seen[3].image, image)
    still = halyard.imread(CLIP / "frame_0003.jpg").astype(int)
    assert np.abs(np.asarray(image) - still).mean() < 12


def test_what_cannot_be_opened_is_named(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.txt").write_text("nothing")
    for source, error, text in ((tmp_path / "nothing.mp4", FileNotFoundError, "nothing.mp4"),
                                (tmp_path / "empty", ValueError, "empty"),
                                (tmp_path / "notes.txt", halyard.Error, "notes.txt"),
                                (None, TypeError, "source"), (True, TypeError, "source"),
                                (-1, ValueError, "source: the number of a camera"),
                                (63, FileNotFoundError, "no camera .camera:63.")):
        fails(error, text, lambda: halyard.open(source))
    for rate in (0, -1, "a"):
        fails(ValueError, "picture_rate", lambda: halyard.open(CLIP, picture_rate=rate))


def test_a_damaged_image_is_told_and_passed(tmp_path):
    for i in range(3):
        data = (CLIP / f"frame_{i:04}.jpg").read_bytes()
        (tmp_path / f"frame{i}.jpg").write_bytes(data if i != 1 else data[:200])
    with halyard.open(tmp_path) as frames:
        next(frames)
        fails(halyard.Error, "frame1.jpg", lambda: next(frames))
        assert next(frames).source.endswith("frame2.jpg")


def test_star_imports_leave_python_s_open_alone():
    names = {}
    exec("from halyard import *", names)
    assert "open" not in names and names["Frames"] is halyard.Frames


def test_what_decodes_videos_is_named():
    image = CLIP / "frame_0000.jpg"
    with pytest.raises(halyard.InvalidArgumentError, match="video_decoder"):
        halyard.open(image, video_decoder="cuda")
    with halyard.open(image, video_decoder="auto") as frames:
        assert len(list(frames)) == 1


def test_a_folder_is_played_from_a_time_on_at_its_speed_and_again(tmp_path):
    with halyard.open(CLIP, start=3.4) as frames:
        assert not frames.is_live and frames.reconnect_count == 0
        assert [frame.index for frame in frames] == [85, 86, 87, 88, 89]
        frames.seek(1)
        assert next(frames).index == 25
        frames.seek(99)
        assert list(frames) == []
        fails(ValueError, "seconds", lambda: frames.seek(-1))
    began = time.monotonic()
    with halyard.open(CLIP, speed=2, start=3) as frames:
        assert len(list(frames)) == 15
    assert time.monotonic() - began > 14 / 50
    with halyard.open(CLIP, loop=True, start=3.52) as frames:
        seen = [next(frames) for _ in range(4)]
    assert [frame.index for frame in seen] == [88, 89, 90, 91]
    assert [frame.source[-8:] for frame in seen] == ["0088.jpg", "0089.jpg", "0000.jpg", "0001.jpg"]
    assert seen[3].timestamp_ns - seen[0].timestamp_ns == 120_000_000
    fails(TypeError, "speed", lambda: halyard.open(CLIP, speed="fast"))
    for wrong in ({"speed": -1}, {"start": -1}):
        fails(ValueError, next(iter(wrong)), lambda: halyard.open(CLIP, **wrong))


def test_a_server_that_does_not_answer_is_left_by_ctrl_c():
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    timer = threading.Timer(0.3, lambda: signal.pthread_kill(threading.main_thread().ident,
                                                             signal.SIGINT))
    timer.start()
    try:
        halyard.open(f"http://127.0.0.1:{port}/live", reconnect=True)
    except halyard.UnsupportedError:
        pytest.skip("this build has no FFmpeg")
    except KeyboardInterrupt:
        pass
    else:
        pytest.fail("a port that is closed was opened")
    finally:
        timer.join()
