# SPDX-License-Identifier: Apache-2.0
"""`halyard track` on a scene whose truth is known, and its scores against TrackEval's."""
import io
import re
import contextlib

import numpy as np
import pytest

TRACKERS = ["bytetrack", "bytetrack-paper", "ocsort", "sort"]


def scene(seed, objects=12, frames=120, gap=10):
    """Truth and detections as MOT rows: objects on lines through one another, that drop out for a
    while, jitter, and are joined by false alarms."""
    random = np.random.default_rng(seed)
    angle = 2 * np.pi * np.arange(objects) / objects
    truth, found = [], []
    hidden = np.zeros(objects, int)
    for frame in range(frames):
        radius = 4.0 * (frames / 2 - frame)
        for i in range(objects):
            x, y = 600 + radius * np.cos(angle[i]) + 30 * (i % 4), 600 + radius * np.sin(angle[i])
            box = np.array([x, y, 40 + i, 90 + 2 * i])
            if frame > i:  # objects come one by one
                truth.append([frame + 1, i + 1, *box, 1, -1, -1, -1])
            hidden[i] = hidden[i] - 1 if hidden[i] else (random.random() < 0.03) * gap
            if frame > i and not hidden[i]:
                score = round(random.uniform(0.5, 1), 3)
                found.append([frame + 1, -1, *(box + random.normal(0, 2, 4)), score, -1, -1, -1])
        if random.random() < 0.2:
            found.append([frame + 1, -1, *random.uniform(300, 900, 2), 50, 100, 0.8, -1, -1, -1])
    return truth, found


def write(path, rows):
    path.write_text("".join(",".join(f"{v:.9g}" for v in row) + "\n" for row in rows))
    return path


def ious(a, b):
    a, b = a[:, None], b[None, :]
    low = np.maximum(a[..., :2], b[..., :2])
    high = np.minimum(a[..., :2] + a[..., 2:], b[..., :2] + b[..., 2:])
    inside = np.prod(np.clip(high - low, 0, None), -1)
    return inside / (np.prod(a[..., 2:], -1) + np.prod(b[..., 2:], -1) - inside)


def trackeval_scores(truth, result):
    """What TrackEval's own metrics make of two arrays of MOT rows."""
    with contextlib.redirect_stdout(io.StringIO()):
        metrics = pytest.importorskip("trackeval").metrics
        hota, clear, identity = metrics.HOTA(), metrics.CLEAR({"PRINT_CONFIG": False}), \
            metrics.Identity({"PRINT_CONFIG": False})
    data = {"gt_ids": [], "tracker_ids": [], "similarity_scores": []}
    truth_ids, result_ids = np.unique(truth[:, 1]), np.unique(result[:, 1])
    frames = int(max(truth[:, 0].max(), result[:, 0].max(initial=0)))
    for frame in range(1, frames + 1):
        t, r = truth[truth[:, 0] == frame], result[result[:, 0] == frame]
        data["gt_ids"].append(np.searchsorted(truth_ids, t[:, 1]))
        data["tracker_ids"].append(np.searchsorted(result_ids, r[:, 1]))
        data["similarity_scores"].append(ious(t[:, 2:6], r[:, 2:6]))
    data |= {"num_timesteps": frames, "num_gt_dets": len(truth), "num_tracker_dets": len(result),
             "num_gt_ids": len(truth_ids), "num_tracker_ids": len(result_ids), "seq": "scene"}
    with contextlib.redirect_stdout(io.StringIO()):
        h, c, i = (m.eval_sequence(data) for m in (hota, clear, identity))
    return {"HOTA": 100 * h["HOTA"].mean(), "DetA": 100 * h["DetA"].mean(),
            "AssA": 100 * h["AssA"].mean(), "LocA": 100 * h["LocA"].mean(),
            "MOTA": 100 * c["MOTA"], "MOTP": 100 * c["MOTP"], "misses": c["CLR_FN"],
            "false alarms": c["CLR_FP"], "switches": c["IDSW"],
            "IDF1": 100 * i["IDF1"], "precision": 100 * i["IDP"], "recall": 100 * i["IDR"]}


def printed_scores(text):
    return {name.strip(): float(value)
            for name, value in re.findall(r"([A-Za-z][A-Za-z1 ]*?) (-?[\d.]+)(?:  |$)", text, re.M)
            if name in ("HOTA", "DetA", "AssA", "LocA", "MOTA", "MOTP", "misses", "false alarms",
                        "switches", "IDF1", "precision", "recall")}


def results(path):
    text = path.read_text()
    return np.loadtxt(io.StringIO(text), delimiter=",", ndmin=2) if text else np.empty((0, 10))


@pytest.mark.parametrize("tracker", TRACKERS)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_scores_are_trackevals(program, tmp_path, tracker, seed):
    truth, found = scene(seed)
    out = tmp_path / "result.txt"
    text = program.run("track", "--mot", write(tmp_path / "det.txt", found), "--gt",
                       write(tmp_path / "gt.txt", truth), "--tracker", tracker, "--out", out)
    print(text)
    # Both read the same rounded numbers: the results as written are scored again by both.
    again = program.run("track", "--mot", tmp_path / "det.txt", "--gt", tmp_path / "gt.txt",
                        "--tracker", tracker)
    assert again == text
    ours = printed_scores(text)
    assert len(ours) == 12
    theirs = trackeval_scores(results(tmp_path / "gt.txt"), results(out))
    for name, value in theirs.items():
        # Results are written with three decimals: an IoU beside a limit may fall on its other side.
        slack = 0.05 if name in ("HOTA", "DetA", "AssA", "LocA") else 0.002
        assert ours[name] == pytest.approx(value, abs=slack), (name, ours[name], value)


def test_switches_of_a_known_result_are_counted(program, tmp_path):
    """Two objects far apart whose detections swap places twice: no tracker can know, and each swap
    is a switch of both."""
    pytest.importorskip("trackeval")
    boxes = {1: (100, 100, 50, 100), 2: (500, 100, 50, 100)}
    truth, found = [], []
    for frame in range(1, 31):
        swapped = 10 < frame <= 20
        for name, box in boxes.items():
            found.append([frame, -1, *box, 0.9, -1, -1, -1])
            truth.append([frame, 3 - name if swapped else name, *box, 1, -1, -1, -1])
    for tracker in TRACKERS:
        out = tmp_path / "result.txt"
        ours = printed_scores(program.run(
            "track", "--mot", write(tmp_path / "det.txt", found), "--gt",
            write(tmp_path / "gt.txt", truth), "--tracker", tracker, "--out", out))
        assert ours["switches"] == 4
        assert ours["MOTA"] == pytest.approx(100 * (1 - 4 / 60), abs=1e-3)
        assert ours["IDF1"] == pytest.approx(100 * 40 / 60, abs=1e-3)
        theirs = trackeval_scores(results(tmp_path / "gt.txt"), results(out))
        for name, value in theirs.items():
            assert ours[name] == pytest.approx(value, abs=2e-3), name


@pytest.mark.parametrize("tracker", TRACKERS)
@pytest.mark.parametrize("sequence", ["PETS09-S2L1", "TUD-Campus", "TUD-Stadtmitte", "ETH-Sunnyday",
                                      "KITTI-17"])
def test_one_trackers_results_judge_another_as_trackeval_does(program, testdata, tmp_path, tracker,
                                                              sequence):
    """Real scenes have no truth here; the results of OC-SORT replace it."""
    detections = testdata / "mot" / f"{sequence}.txt"
    program.run("track", "--mot", detections, "--tracker", "ocsort", "--out", tmp_path / "gt.txt")
    text = program.run("track", "--mot", detections, "--tracker", tracker, "--gt",
                       tmp_path / "gt.txt", "--out", tmp_path / "result.txt")
    theirs = trackeval_scores(results(tmp_path / "gt.txt"), results(tmp_path / "result.txt"))
    ours = printed_scores(text)
    for name, value in theirs.items():
        slack = 0.05 if name in ("HOTA", "DetA", "AssA", "LocA") else 0.02
        assert ours[name] == pytest.approx(value, abs=slack), name
