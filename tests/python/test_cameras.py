# SPDX-License-Identifier: Apache-2.0
"""halyard.Camera and halyard.cameras: arguments and errors. tests/vm/capture captures frames."""
import os

import pytest

import halyard

IN_VM = "HALYARD_TEST_IN_VM" in os.environ  # there is one
VIVID = [found for found in halyard.cameras() if found.driver == "vivid"]


def test_cameras_are_listed():
    for found in halyard.cameras():
        assert found.path.startswith("/dev/video")
        assert found.reason is None or isinstance(found.reason, str)


def test_what_is_no_camera_is_refused():
    with pytest.raises(halyard.UnsupportedError, match="no V4L2 camera"):
        halyard.Camera(os.devnull)
    with pytest.raises(halyard.MissingFileError, match="no such device"):
        halyard.Camera("/dev/video12345")
    with pytest.raises(halyard.MissingFileError, match="fewer cameras"):
        halyard.Camera(4096)


def test_arguments_are_checked():
    for options, text in (({"buffers": 1}, "2 to 32"), ({"width": 640}, "both or none"),
                          ({"rate": -1}, "rate"), ({"fourcc": "YUYV2"}, "fourcc"),
                          ({"format": "purple"}, "purple")):
        with pytest.raises(halyard.InvalidArgumentError, match=text):
            halyard.Camera(os.devnull, **options)
    for options in ({"images": [1]}, {"width": "wide"}, {"fourcc": 5}, {"pool": 7}):
        with pytest.raises(TypeError):
            halyard.Camera(os.devnull, **options)
    with pytest.raises(TypeError):
        halyard.Camera(1.5)


@pytest.mark.skipif(not VIVID and not IN_VM,
                    reason="a test camera of the kernel (vivid) is missing")
def test_frames_of_a_test_camera():
    with halyard.Camera(VIVID[0].path, format="nv12", width=320, height=180) as camera:
        assert camera.mode.transfer == "driver_buffers"
        assert (camera.mode.width, camera.mode.height) == (320, 180)
        camera.set_control("test_pattern", "100% White")
        camera.set_control("brightness", 128)
        assert camera.control("brightness") == 128
        first, second = next(camera), camera.next(timeout=5)
        assert second.sequence > first.sequence and second.timestamp_ns > first.timestamp_ns
        assert (first.image.width, first.image.height) == (320, 180)
        assert camera.stats.held == 2 and camera.stats.copies == 0
        del first, second
        assert camera.stats.held == 0
        camera.cancel()
        with pytest.raises(halyard.Error, match="cancel"):
            camera.next()
        with pytest.raises(halyard.MissingFileError, match="it has brightness"):
            camera.control("no_such_control")
        with pytest.raises(halyard.BusyError):
            halyard.Camera(VIVID[0].path, width=320, height=180)
    with pytest.raises(halyard.InvalidArgumentError, match="closed"):
        camera.next()
