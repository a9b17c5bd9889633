# SPDX-License-Identifier: Apache-2.0
"""val: measures detections against a ground truth, by COCO's protocol."""
from __future__ import annotations

import json
import os
import pathlib
from dataclasses import dataclass, field
from typing import (TYPE_CHECKING, Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence,
                    Tuple, Union)

import numpy as np

from . import _core
from ._calls import helpful
from ._core import Tensor
from ._errors import DataError, UnsupportedError
from ._errors import invalid_argument as _wrong

if TYPE_CHECKING:
    from ._core import ImageProcessor, ModelDescription

__all__ = ["Scores", "val"]

Path = Union[str, "os.PathLike[str]"]
Document = Union[Path, Mapping[str, Any], Sequence[Mapping[str, Any]]]


@dataclass(frozen=True)
class Scores:
    """Average precision and recall, as COCO defines them. ``str(scores)`` is the table that
    ``halyard val`` prints.

    - kind: "boxes", "masks", "keypoints", "rotated_boxes" or "classes";
    - summary: the numbers by name ("AP", "AP50", "AR_100"...; of classes "top1" and "top5"), each
      in [0, 1], or None if there is no annotation of this kind; by_class: the AP of each category
      by its name, of classes the share of its images with the right best class;
    - images, annotations, detections: how many were compared; left_out: detections of categories
      that the ground truth does not have;
    - masks, keypoints, rotated_boxes: the Scores of these, of a model that gives them beside boxes;
    - results: what was measured, as COCO's list of dicts: ``json.dump`` it for other programs."""

    kind: str
    summary: Dict[str, Optional[float]]
    by_class: Dict[str, Optional[float]]
    images: int
    annotations: int
    detections: int
    left_out: int
    masks: Optional["Scores"] = None
    keypoints: Optional["Scores"] = None
    rotated_boxes: Optional["Scores"] = None
    results: List[Dict[str, Any]] = field(default_factory=list, repr=False, compare=False)
    _meanings: Tuple[str, ...] = field(default=(), repr=False, compare=False)

    @property
    def ap(self) -> Optional[float]:
        """Precision at IoU 0.50 to 0.95: COCO's main number."""
        return self.summary.get("AP")

    @property
    def ap50(self) -> Optional[float]:
        """Precision at IoU 0.50."""
        return self.summary.get("AP50")

    @property
    def ap75(self) -> Optional[float]:
        """Precision at IoU 0.75."""
        return self.summary.get("AP75")

    def __str__(self) -> str:
        kind = self.kind.replace("_", " ")
        lines = [f"{kind}: {self.images} images, {self.annotations} annotations of "
                 f"{len(self.by_class)} categories, {self.detections} detections"]
        if self.left_out:
            lines.append(f"{self.left_out} detections of other categories are left out")
        for (name, value), meaning in zip(self.summary.items(), self._meanings):
            shown = "-" if value is None else f"{value:.4f}"
            lines.append(f"{name:<10} {shown:>7}  {meaning}")
        beside = [each for each in (self.masks, self.keypoints, self.rotated_boxes) if each]
        return "\n".join(lines + [str(each) for each in beside])


@helpful
def val(gt: Union[Path, Mapping[str, Any]], detections: Document, *,
        masks: bool = False, kind: Optional[str] = None) -> Scores:
    """Average precision and recall by COCO's protocol: the numbers of pycocotools.

    Args:
        gt: the ground truth, COCO's instances: a file, or its dict ("images", "categories",
            "annotations").
        detections: results of any program in COCO's format: a file, or its list of dicts, for
            example the sum of ``Detections.to_coco()`` of all images.
        masks: compares segmentations instead of boxes: polygons and runs in gt, runs in detections.
        kind: what is compared: "boxes" (the default), "masks", "keypoints" (by COCO's similarity),
            "rotated_boxes" ("rbox" or "poly") or "classes" (of whole images); docs/evaluation.md.

    A model is measured by ``Model.val``. Raises MissingFileError, DataError (the key's path and its
    rule), CapacityError (masks too large to compare)."""
    if masks and kind not in (None, "masks"):
        raise _wrong(f"kind: must be \"masks\" with masks=True, not {kind!r}")
    chosen = kind or ("masks" if masks else "boxes")
    truth = _truth(gt, _text(gt, "gt"), chosen)
    return _scores(truth, _text(detections, "detections"), chosen, detections)


def _text(document: Any, name: str) -> bytes:
    if isinstance(document, (str, os.PathLike)):
        return pathlib.Path(document).read_bytes()
    if not isinstance(document, (Mapping, list, tuple)):
        wanted = "a file or a dict" if name == "gt" else "a file or a list of dicts"
        raise TypeError(f"{name}: must be {wanted}, not {type(document).__name__}")
    try:
        return json.dumps(document, default=_plain, allow_nan=False).encode()
    except ValueError as error:
        raise _wrong(f"{name}: {error}") from None


def _plain(value: Any) -> Any:
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, bytes):  # runs, as pycocotools gives them
        return value.decode()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def _named(document: Any, name: str, call: Callable[[], Any]) -> Any:
    """The call's result; adds the file's name to its errors."""
    try:
        return call()
    except DataError as error:
        where = os.fsdecode(document) if isinstance(document, (str, os.PathLike)) else name
        raise DataError(f"{where}: {error}", error.code) from None


def _truth(gt: Any, text: bytes, kind: str) -> _core._CocoTruth:
    made: _core._CocoTruth = _named(gt, "gt", lambda: _core._CocoTruth(text, kind))
    return made


def _scores(truth: _core._CocoTruth, text: bytes, kind: str, document: Any = None,
            left_out: int = 0, **more: Any) -> Scores:
    summary, by_class, detections, also_left_out = _named(
        document, "detections", lambda: truth.evaluate(text, kind))
    names = [name or f"category {number}" for number, name in truth.categories]
    return Scores(kind, {name: value for name, _, value in summary},
                  dict(zip(names, by_class)), len(truth.images), truth.annotations, detections,
                  left_out + also_left_out,
                  _meanings=tuple(meaning for _, meaning, _ in summary), **more)


class Measured:
    """One model over the images of a ground truth, by the rules of a preset."""

    def __init__(self, gt: Any, images: Path, preset: str, conf: Optional[float],
                 iou: Optional[float]) -> None:
        self.gt, self.folder = gt, pathlib.Path(images)
        self.run = _core._PresetRun(preset, conf, iou)
        self.text = _text(gt, "gt")
        try:
            self.truth = _truth(gt, self.text, "boxes")
        except DataError:  # a ground truth of classes has no boxes
            self.truth = _truth(gt, self.text, "classes")
        self.results: List[Dict[str, Any]] = []
        self.left_out = 0

    def images(self) -> Iterable[Tuple[int, str, Tensor]]:
        """(id, path, image) of each image of the ground truth. Checks that the image has the size
        that the ground truth gives."""
        for number, name, width, height in self.truth.images:
            inside = pathlib.PurePath(name)
            if not name or inside.is_absolute() or ".." in inside.parts:
                raise _wrong(f"gt: the file_name {name!r} of image {number} must lie inside "
                             f"images, {str(self.folder)!r}")
            path = str(self.folder / name)
            image = Tensor.load(path)
            if (width, height) not in ((0, 0), image.upright_size):
                have = "x".join(map(str, image.upright_size))
                raise _wrong(f"{path}: is {have}, must be {width}x{height} as the ground truth "
                             "has it")
            yield number, path, image

    def add(self, image: int, size: Tuple[int, int], categories: Sequence[Optional[int]],
            found: Iterable[Any]) -> None:
        """Adds the detections of one image."""
        for label, score, more in found:
            category = categories[label] if label < len(categories) else None
            if category is None:
                self.left_out += 1
                continue
            result = {"image_id": image, "category_id": category, "score": score, **more}
            if "bbox" in more:
                result["bbox"] = list(more["bbox"])
            if "counts" in more:
                result["segmentation"] = {"size": [size[1], size[0]],
                                          "counts": result.pop("counts")}
            self.results.append(result)

    def has(self, kind: str) -> bool:
        """Whether the ground truth has what a model gives beside boxes."""
        return {"masks": self.truth.has_segmentations, "keypoints": self.truth.has_keypoints,
                "rotated_boxes": self.truth.has_rotated_boxes}.get(kind, False)

    def scores(self, kinds: Sequence[str]) -> Scores:
        """The scores of all that was added; those after the first are members of it."""
        text = _text(self.results, "detections")
        of = {kind: _scores(_truth(self.gt, self.text, kind), text, kind, left_out=self.left_out)
              for kind in kinds[1:]}
        truth = _truth(self.gt, self.text, kinds[0])
        return _scores(truth, text, kinds[0], left_out=self.left_out, results=self.results, **of)


KINDS = {"segment": "masks", "pose": "keypoints", "obb": "rotated_boxes", "classify": "classes"}


def kinds_of(task: Optional[str], measured: Measured, masks: Optional[bool]) -> List[str]:
    """What is measured of a model of this task."""
    kind = KINDS.get(task or "", "boxes")
    if masks and kind != "masks":
        raise UnsupportedError(f"masks: the model gives none, it is of the task {task!r}",
                               "unsupported")
    if kind == "classes":
        return [kind]
    wanted = masks if kind == "masks" and masks is not None else measured.has(kind)
    return ["boxes", kind] if wanted else ["boxes"]


def measure(measured: Measured, processor: ImageProcessor, make_input: Callable[[], Tensor],
            infer: Callable[[Tensor], List[Any]],
            describe: Callable[[List[Any]], ModelDescription], names: Optional[Sequence[str]],
            masks: Optional[bool]) -> Scores:
    """Runs the model on all images. `masks` None: if the model gives masks and every annotation
    has a segmentation."""
    run = measured.run
    categories: Optional[Sequence[Optional[int]]] = None
    kinds: List[str] = ["boxes"]
    made = make_input()
    for number, path, image in measured.images():
        placement = run.prepare(processor, image, made)
        outputs = infer(made)
        if categories is None:
            description = describe(outputs)
            run.set_model(description)
            kinds = kinds_of(description.task, measured, masks)
            labels = list(names or ())
            labels += [""] * (run.class_count - len(labels))
            categories = measured.truth.match(labels)
            if kinds == ["classes"]:  # it sees the middle of the image
                placement = run.prepare(processor, image, made)
                outputs = infer(made)
        measured.add(number, placement.source, categories,
                     run.find(outputs, placement, "masks" in kinds))
    return measured.scores(kinds)


Scores.__module__ = val.__module__ = "halyard"
