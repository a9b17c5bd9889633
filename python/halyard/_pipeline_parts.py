# SPDX-License-Identifier: Apache-2.0
"""What a Pipeline is made of, from what programs pass: sources, models, trackers, tiles."""
from __future__ import annotations

import os
import threading
from typing import Any, Dict, Iterator, List, Optional, Tuple

import numpy as np

from ._core import Image, Tensor, _PipelineFeed, _PipelineSource
from ._errors import UnsupportedError
from ._errors import invalid_argument as _wrong
from ._frames import Frame, Frames
from ._images import frames_of, image_from
from ._model import Classes, Model
from ._pipeline_result import ModelFacts
from ._sources import name_of
from ._tiling import TilingConfig
from ._topics import Topic
from ._tracking import Tracker

_FRAME_NS = 40_000_000  # between the images of an iterable


class Fed:
    """A source that Python reads: a thread hands its frames to the pipeline."""

    def __init__(self, frames: Any, name: str, bgr: bool) -> None:
        self.feed, self.name = _PipelineFeed(), name
        self._frames, self._bgr = frames, bgr

    def start(self) -> None:
        # Daemons: an iterator that waits for ever does not keep the program from ending.
        threading.Thread(target=_run, args=(self._frames, self.feed, self.name, self._bgr),
                         name=f"halyard {self.name}", daemon=True).start()
        self._frames = None


def _run(frames: Any, feed: _PipelineFeed, name: str, bgr: bool) -> None:
    iterator: Iterator[Any] = iter(())
    try:
        iterator = iter(frames)
        index = 0
        while True:
            try:
                each = next(iterator)
                frame = each if isinstance(each, Frame) else _as_frame(each, name, index, bgr)
            except StopIteration:
                break
            except Exception as error:  # the pipeline counts it, and reads on
                if not feed.fail(f"{type(error).__name__}: {error}"):
                    return
                continue
            finally:
                index += 1
            if not feed.put(frame.image, frame.source, frame.index, frame.timestamp_ns):
                return
    finally:
        feed.end()
        close = getattr(iterator, "close", None)
        if callable(close):
            close()


def _as_frame(image: Any, name: str, index: int, bgr: bool) -> Frame:
    made, path = image_from(image, bgr)
    return Frame(made, path or name, index, index * _FRAME_NS)


def _is_image(value: Any) -> bool:
    return isinstance(value, (Tensor, Image, Frame, bytes, bytearray, memoryview, np.ndarray)) \
        or type(value).__module__.split(".")[0] in ("PIL", "torch")


def _source_of(source: Any, number: int, bgr: bool) -> Any:
    if _is_image(source):
        raise TypeError(f"sources: {type(source).__name__} is one image; pass an iterator of "
                        "images, as iter([first, second])")
    if isinstance(source, Topic):
        return Fed(frames_of(source), name_of(source), bgr)
    if isinstance(source, Frames):
        return Fed(source, os.fsdecode(source.source), bgr)
    if isinstance(source, (str, os.PathLike, int, np.integer)):
        named: Any = source
        return _PipelineSource(name_of(named))
    if not hasattr(source, "__iter__") and not hasattr(source, "__getitem__"):
        raise TypeError("sources: each must be a path, an address, the number of a camera, a "
                        f"Topic, or an iterable of images, not {type(source).__name__}")
    return Fed(source, f"{type(source).__name__} {number}", bgr)


def sources_from(sources: Any, bgr: bool) -> List[Any]:
    """A list or tuple is several sources; each a _PipelineSource or Fed."""
    if not isinstance(sources, (list, tuple)):
        sources = [sources]
    return [_source_of(source, number, bgr) for number, source in enumerate(sources)]


def models_from(model: Any, engine: Any, device: str) -> List[Model]:
    """None, a file, a Model, or a list of them."""
    if model is None:
        if engine is not None:
            raise _wrong("engine: needs a model")
        return []
    models = model if isinstance(model, (list, tuple)) else [model]
    made = []
    for each in models:
        opened = each if isinstance(each, Model) else Model(each, engine=engine, device=device)
        if opened._engine is None:
            raise UnsupportedError("model: a pipeline runs models of files; call a model with an "
                                   "engine of your own in a stage: pipeline.add_stage(lambda "
                                   "result: use(model(result.image)))", "unsupported")
        if opened.task in ("classify", "semantic"):
            raise UnsupportedError(f"model: a pipeline does not run networks that {opened.task} "
                                   "the image; call the model in a stage: pipeline.add_stage("
                                   "lambda result: use(model(result.image)))", "unsupported")
        made.append(opened)
    return made


def _tiles_from(tiles: Any, model: Model) -> Optional[Tuple[int, int, float]]:
    if tiles is None or tiles is False:
        return None
    if tiles is True:
        return (*model.input_size, 0.2)
    if isinstance(tiles, TilingConfig):
        return tiles.tile_w, tiles.tile_h, tiles.overlap
    if not isinstance(tiles, (list, tuple)) or len(tiles) != 2:
        raise TypeError("tiles: must be None, True, (width, height) or a TilingConfig, not "
                        f"{tiles!r}")
    return tiles[0], tiles[1], 0.2


def model_options(model: Model, conf: float, iou: float, max_det: int, classes: Classes,
                  tiles: Any) -> Tuple[Dict[str, Any], ModelFacts]:
    """What _PipelineCore takes, and what each result repeats."""
    wanted = model._wanted(classes)
    name = os.path.splitext(os.path.basename(model.path or "model"))[0]
    cut = _tiles_from(tiles, model)
    options = {"name": name, "engine": model._engine, "description": model._description,
               "task": model.task, "conf": conf, "iou": iou, "max_det": max_det,
               "classes": wanted, "tiles": cut}
    return options, ModelFacts(name, model.names, model.task, wanted, cut is not None)


def tracker_options(tracker: Any) -> Optional[Tuple[str, Dict[str, Any]]]:
    """The kind and the options; each source and model gets a tracker of its own."""
    if tracker is None:
        return None
    if isinstance(tracker, str):
        tracker = Tracker(tracker)  # type: ignore[arg-type]
    if not isinstance(tracker, Tracker):
        raise TypeError("tracker: must be None, the kind of a tracker, or a Tracker, whose options "
                        f"are used, not {type(tracker).__name__}")
    return tracker.kind, tracker._options
