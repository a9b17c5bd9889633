# SPDX-License-Identifier: Apache-2.0
"""Model: from a model file and an image to a Result."""
from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from typing import (TYPE_CHECKING, Any, Callable, Dict, Iterable, Iterator, List, Literal, Mapping,
                    Optional, Sequence, Tuple, Union, overload)

import numpy as np

from . import _core
from ._calls import helpful
from ._core import Decoder, Engine, ImageProcessor, ModelDescription, Placement, Tensor
from ._detections import Detections
from ._enums import Fit, LetterboxRule, Nms, PixelFormat
from ._errors import UnsupportedError
from ._errors import invalid_argument as _wrong
from ._evaluate import Measured, Scores, measure
from ._frames import Frame, Frames
from ._images import frames_of, image_from
from ._result import Result
from ._rows import Names, names_from
from ._sources import Source
from ._tracking import Tracker, TrackerKind, follow

if TYPE_CHECKING:
    from ._tracking import AnyTracker

__all__ = ["Model"]

Path = Union[str, "os.PathLike[str]"]
Classes = Optional[Iterable[Union[int, str]]]
# conf, iou, indices of the classes to keep or None for all, max_det, agnostic_nms.
_Options = Tuple[float, float, Optional[List[int]], int, bool]
PAD = (114, 114, 114, 255)


class Model:
    """A network with its image input and decoder: ``result = model(image)``.

    Args:
        model: an .onnx, .tflite or .xml file, run by the C++ engine with OpenVINO
            (``pip install halyard-vision[openvino]``). May be left out if engine is a callable.
        engine: the name of an engine of available_engines(); or your own engine: a callable that
            takes the input, an array (1, 3, H, W) of float32 in 0..1 (or as layout and dtype say),
            and returns the model's outputs: an array, a list or dict of them.
        input_size: (width, height) of the network's input; None: from the model.
        labels: names of the classes, a list or dict, or a text file with one a line; None: from
            the model.
        description: meaning of the outputs: a ModelDescription, a document's path, or a dict; None:
            from the model's metadata or its outputs' shapes.
        device, threads: of the named engine, or the first that opens the file.
        layout, dtype: of the array that engine takes; None: "nchw", "float32".

    The input is the upright image, letterboxed by Ultralytics' rule for prediction (grey 114); for
    classifiers the middle of the image. May be called from several threads.

    Raises MissingFileError, DataError (no model), UnsupportedError (no OpenVINO, or outputs of no
    known kind), ValueError."""

    @helpful
    def __init__(self, model: Optional[Path] = None, *,
                 engine: Union[str, Callable[..., Any], None] = None,
                 input_size: Optional[Tuple[int, int]] = None,
                 labels: Union[Names, "os.PathLike[str]"] = None,
                 description: Union[ModelDescription, Path, Dict[str, Any], None] = None,
                 device: str = "CPU", threads: int = 0,
                 layout: Optional[Literal["nchw", "nhwc"]] = None,
                 dtype: Optional[str] = None) -> None:
        self._arguments = {
            "model": model, "engine": engine, "input_size": input_size, "labels": labels,
            "description": description, "device": device, "threads": threads, "layout": layout,
            "dtype": dtype}
        name = engine if isinstance(engine, str) else None
        engine = None if isinstance(engine, str) else engine
        if model is None and engine is None:
            raise TypeError("model: must be a file, or engine a callable")
        if engine is not None and not callable(engine):
            raise TypeError("engine: must be callable, or the name of an engine, not "
                            f"{type(engine).__name__}")
        if model is not None and not isinstance(model, (str, bytes, os.PathLike)):
            raise TypeError(f"model: must be a str or os.PathLike, not {type(model).__name__}")
        if layout not in (None, "nchw", "nhwc"):
            raise _wrong(f"layout: must be \"nchw\" or \"nhwc\" ({layout!r})")
        self.path = None if model is None else os.fsdecode(model)
        if engine is None and str(self.path).endswith((".pt", ".pth")):
            raise UnsupportedError(f"model: {self.path!r} holds weights for PyTorch; export it "
                                   f"first: `yolo export model={self.path} format=onnx`",
                                   "unsupported")
        self._engine = (Engine(model, device, threads, engine=name or "")
                        if model is not None and engine is None else None)
        self._callable = engine
        self._labels = _labels_from(labels)
        self._description = self._described(description)
        own = self._description.labels if self._description else []
        if self._labels is not None and own and len(own) != len(self._labels):
            raise _wrong(f"labels: {len(self._labels)} names for the {len(own)} classes of the "
                         "model")
        self._layout, self._dtype = layout or "nchw", dtype or "float32"
        size = input_size or (self._engine.input_size if self._engine else None)
        if size is None and self._description is not None:
            size = self._description.input_size
        if size is None:
            raise _wrong("input_size: must be given, the model does not say it")
        self._size = (int(size[0]), int(size[1]))
        self._processor = ImageProcessor()
        self._decoders: OrderedDict[Any, Decoder] = OrderedDict()
        self._lock, self._local = threading.Lock(), threading.local()
        self._known = self._names_and_task()

    def __reduce__(self) -> Tuple[Any, ...]:
        return _opened, (self._arguments,)

    def _names_and_task(self) -> Tuple[Optional[Tuple[str, ...]], str]:
        """What each Result repeats, asked of the description once."""
        own = tuple(self._description.labels) if self._description else ()
        names = self._labels or own or (tuple(self._engine.labels) if self._engine else ())
        return names or None, "detect" if self._description is None else self._description.task

    def _described(self, given: Any) -> Optional[ModelDescription]:
        if isinstance(given, ModelDescription):
            return given
        if isinstance(given, dict):
            from ._configs import dumps
            return ModelDescription.from_json(dumps(given))
        if given is not None:
            return ModelDescription.from_file(given)
        if self._engine is not None:
            return _core.describe_model(self._engine)
        if self.path is not None:
            return _core.describe_model(self.path)
        return None

    @property
    def engine(self) -> Any:
        """The Engine, or the callable that was passed."""
        return self._engine if self._engine is not None else self._callable

    @property
    def input_size(self) -> Tuple[int, int]:
        """(width, height) of the network's input."""
        return self._size

    @property
    def description(self) -> Optional[ModelDescription]:
        """Meaning of the outputs; None before the first call of an engine that does not tell."""
        return self._description

    @property
    def task(self) -> str:
        """"detect", "segment", "pose", "obb", "classify" or "semantic"."""
        return self._known[1]

    @property
    def names(self) -> Optional[Tuple[str, ...]]:
        """Names of the classes."""
        return self._known[0]

    def explain(self) -> str:
        """A text with the head that is decoded and the source of each value."""
        if self._description is None:
            return "not known before the first call: the engine does not say what it gives"
        return self._description.explain()

    @overload
    def __call__(self, image: List[Any], *, conf: float = ..., iou: float = ...,
                 classes: Classes = ..., max_det: int = ..., agnostic_nms: bool = ...,
                 bgr: bool = ..., stream: Literal[False] = ...) -> List[Result]: ...
    @overload
    def __call__(self, image: Any, *, conf: float = ..., iou: float = ..., classes: Classes = ...,
                 max_det: int = ..., agnostic_nms: bool = ...,
                 stream: Literal[True]) -> Iterator[Result]: ...
    @overload
    def __call__(self, image: Any, *, conf: float = ..., iou: float = ..., classes: Classes = ...,
                 max_det: int = ..., agnostic_nms: bool = ..., bgr: bool = ...,
                 stream: Literal[False] = ...) -> Result: ...

    @helpful
    def __call__(self, image: Any, *, conf: float = 0.25, iou: float = 0.45,
                 classes: Classes = None, max_det: int = 300, agnostic_nms: bool = False,
                 bgr: bool = False, stream: bool = False) -> Any:
        """Finds the objects in an image.

        Args:
            image: a path, the bytes of an image file, a Pillow image, an array (H, W, 3) of
                uint8 in R G B, a torch tensor (uint8, or floats in 0..1), a Tensor with a format,
                a Frame of open(); or a list of them.
            conf: minimum confidence.
            iou: maximum overlap of two boxes of a class.
            classes: indices or names of the classes to keep; None: all.
            max_det: maximum number of objects.
            agnostic_nms: suppresses boxes of different classes too.
            bgr: arrays have blue first, as OpenCV's do. Other kinds of image say it themselves.
            stream: the same as stream(image): folders, videos, cameras, frame by frame.

        Returns a Result, which is Detections; for a list of images a list of Results."""
        if stream:
            if bgr:
                raise _wrong("bgr: is of arrays; stream() takes what says its order itself")
            return self.stream(image, conf=conf, iou=iou, classes=classes, max_det=max_det,
                               agnostic_nms=agnostic_nms)
        if isinstance(image, (list, tuple)):
            return [self(each, conf=conf, iou=iou, classes=classes, max_det=max_det,
                         agnostic_nms=agnostic_nms, bgr=bgr) for each in image]
        options = (conf, iou, self._wanted(classes), max_det, agnostic_nms)
        if isinstance(image, Frame):
            return self._run_frame(image, options)
        image, path = image_from(image, bgr)
        return self._run(image, options, path)

    predict = __call__

    @helpful
    def stream(self, source: Union[Source, Frames, Iterable[Any]], *, conf: float = 0.25,
               iou: float = 0.45, classes: Classes = None, max_det: int = 300,
               agnostic_nms: bool = False) -> Iterator[Result]:
        """Yields one Result after the other: for what open() takes (a folder, a video, a camera's
        number, a topic), open()'s frames, or an iterable of images. Takes the arguments of a
        call."""
        options = (conf, iou, self._wanted(classes), max_det, agnostic_nms)
        for frame in frames_of(source):
            yield self._run_frame(frame, options)

    @helpful
    def track(self, source: Union[Source, Frames, Iterable[Any]], *,
              tracker: Union["AnyTracker", TrackerKind] = "bytetrack", coasting: bool = False,
              **options: Any) -> Iterator[Result]:
        """stream() with a tracker, which sets ``tracker_id``.

        Args:
            tracker: the kind of a new tracker, or a Tracker, which continues from the frames that
                it has seen.
            coasting: adds tracks that are not seen in a frame.
            options: conf, iou, classes, max_det, agnostic_nms, as of a call."""
        follower = Tracker(tracker) if isinstance(tracker, str) else tracker
        for result in self.stream(source, **options):
            yield follow(follower, result, result.timestamp_ns, coasting)

    @helpful
    def val(self, gt: Union[Path, Mapping[str, Any]], images: Path, *,
            preset: str = "ultralytics-val", conf: Optional[float] = None,
            iou: Optional[float] = None, masks: Optional[bool] = None) -> Scores:
        """Average precision and recall of the model on your images, measured as by
        ``halyard val --model``.

        Args:
            gt: COCO's instances: a file or its dict; images: the folder of the files that it names.
            preset: the rules that make the network's input and select its boxes:
                "ultralytics-val", "ultralytics" or "hal"; conf and iou overrule it.
            masks: measures masks too: ``scores.masks``. None: if the model gives them
                and every annotation has a segmentation. Keypoints and rotated boxes are measured
                where the model and gt have them, a classifier by its classes.

        Classes are matched to categories by name; if no name matches and the counts are equal, by
        order."""
        measured = Measured(gt, images, preset, conf, iou)
        return measure(measured, self._processor, self._input, self._infer, self._describe_by,
                       self.names, masks)

    def _wanted(self, classes: Classes) -> Optional[List[int]]:
        if classes is None:
            return None
        if isinstance(classes, (int, str)):
            classes = [classes]
        names = list(self.names or ())
        wanted = []
        for each in classes:
            if isinstance(each, str) and each not in names:
                raise _wrong(f"classes: the model has no {each!r} (it has "
                             f"{', '.join(names[:20]) or 'no names'})")
            wanted.append(names.index(each) if isinstance(each, str) else int(each))
        return wanted

    def _input(self) -> Tensor:
        """The input tensor of this thread."""
        made: Optional[Tensor] = getattr(self._local, "input", None)
        if made is None:
            if self._engine is not None:
                made = self._engine.create_input()
            else:
                kind = PixelFormat.PlanarRgb if self._layout == "nchw" else PixelFormat.Rgb
                made = self._processor.create_image(*self._size, kind, self._dtype)
            self._local.input = made
        return made

    def _placed(self, image: Tensor) -> Tuple[Tensor, Placement]:
        made = self._input()
        if self.task == "classify":
            return made, self._processor.convert(image, made, fit=Fit.Cover)
        return made, self._processor.convert(image, made, letterbox=PAD,
                                             letterbox_rule=LetterboxRule.Ultralytics)

    def _infer(self, made: Tensor) -> List[Any]:
        if self._engine is not None:
            return list(self._engine.run(made))
        assert self._callable is not None
        array = np.asarray(made)
        found = self._callable(array if array.ndim == 4 else array[np.newaxis])
        if isinstance(found, dict):
            found = list(found.values())
        if not isinstance(found, (list, tuple)):
            found = [found]
        return [np.asarray(each) if not isinstance(each, Tensor) else each for each in found]

    def _describe_by(self, outputs: List[Any]) -> ModelDescription:
        """The description; for an engine without metadata, from the first outputs."""
        with self._lock:
            if self._description is None:
                self._description = _core._describe_outputs(outputs, self._size,
                                                            list(self._labels or ()))
                self._known = self._names_and_task()
            return self._description

    def _decoder(self, outputs: List[Any], conf: float, iou: float, most: int,
                 agnostic: bool) -> Decoder:
        description = self._describe_by(outputs)
        with self._lock:
            key = (conf, iou, most, agnostic)
            made = self._decoders.pop(key, None)
            if made is None:
                nms = Nms.ClassAgnostic if agnostic else Nms.Auto
                made = Decoder.for_model(description, conf, iou, nms, most)
            self._decoders[key] = made
            if len(self._decoders) > 8:
                self._decoders.popitem(last=False)
            return made

    def _run_frame(self, frame: Frame, options: _Options) -> Result:
        return self._run(frame.image, options, frame.source, frame.index, frame.timestamp_ns)

    def _run(self, image: Tensor, options: _Options, path: Optional[str], index: int = 0,
             timestamp_ns: Optional[int] = None) -> Result:
        conf, iou, wanted, max_det, agnostic = options
        start = time.perf_counter()
        made, placement = self._placed(image)
        placed = time.perf_counter()
        outputs = self._infer(made)
        inferred = time.perf_counter()
        # Other classes count in the decode; they are left out afterwards.
        limit = max_det if wanted is None else max(max_det, 3000)
        decoder = self._decoder(outputs, conf, iou, limit, agnostic)
        found: Detections = decoder.decode(outputs, batch=0)
        if wanted is not None:
            found = found[np.isin(found.class_id, wanted)][:max_det]
        fields = {**found._fields(), **found._in_source(placement), "_whole": None}
        fields["names"], task = self._known
        done = time.perf_counter()
        speed = {"preprocess": (placed - start) * 1e3, "inference": (inferred - placed) * 1e3,
                 "postprocess": (done - inferred) * 1e3}
        return Result._of(**fields, image=image, placement=placement, path=path, task=task,
                          speed=speed, index=index, timestamp_ns=timestamp_ns)

    def __repr__(self) -> str:
        engine = self._engine.runtime if self._engine else "engine of your own"
        what = "" if self._description is None else f" {self.task},"
        return (f"Model({self.path!r},{what} {self._size[0]} x {self._size[1]}, "
                f"{len(self.names or ())} classes, {engine})")


def _labels_from(labels: Any) -> Optional[Tuple[str, ...]]:
    if isinstance(labels, (str, os.PathLike)):
        with open(labels, encoding="utf-8") as file:
            return tuple(line.strip() for line in file if line.strip())
    return names_from(labels)


def _opened(arguments: Dict[str, Any]) -> Model:
    """A pickled Model, opened again."""
    return Model(**arguments)


Model.__module__ = "halyard"
