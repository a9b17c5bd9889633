# SPDX-License-Identifier: Apache-2.0
"""Halyard: zero-copy tensors from sensor to decision."""
from importlib import import_module as _import_module

# The extension is first: it refuses sub-interpreters, which NumPy does not.
from . import _core  # isort: skip
from . import (_boxes, _cameras, _detection, _detections, _devices, _enums, _errors, _evaluate,
               _frames, _image, _masks, _model, _overlay, _pickling, _pipeline, _pipeline_result,
               _pipeline_stats, _points, _result, _results, _tiling, _topics, _tracing, _tracking,
               _video_codecs, _wait_set)
from ._boxes import *  # noqa: F403
from ._cameras import *  # noqa: F403
from ._core import *  # noqa: F403
from ._core import __version__ as __version__
from ._detection import *  # noqa: F403
from ._detections import *  # noqa: F403
from ._devices import *  # noqa: F403
from ._enums import *  # noqa: F403
from ._errors import *  # noqa: F403
from ._evaluate import *  # noqa: F403
from ._frames import *  # noqa: F403
from ._frames import open as open  # noqa: A004
from ._image import *  # noqa: F403
from ._masks import *  # noqa: F403
from ._model import *  # noqa: F403
from ._overlay import *  # noqa: F403
from ._pipeline import *  # noqa: F403
from ._pipeline_result import *  # noqa: F403
from ._pipeline_stats import *  # noqa: F403
from ._result import *  # noqa: F403
from ._results import *  # noqa: F403
from ._tiling import *  # noqa: F403
from ._topics import *  # noqa: F403
from ._tracing import *  # noqa: F403
from ._tracking import *  # noqa: F403
from ._video_codecs import *  # noqa: F403
from ._wait_set import *  # noqa: F403

# Everything public of the extension (names without an underscore) is exported from here, except
# `open`, with which `from halyard import *` would hide Python's own.
_modules = (_boxes, _cameras, _detection, _detections, _devices, _enums, _errors, _evaluate,
            _frames, _image, _masks, _model, _overlay, _pipeline, _pipeline_result,
            _pipeline_stats, _result, _results, _tiling, _topics, _tracing, _tracking,
            _video_codecs, _wait_set)
__all__ = sorted({"__version__", *(name for module in _modules for name in module.__all__),
                  *(name for name in vars(_core) if not name.startswith("_"))})


def __getattr__(name: str) -> object:
    # Imported at first use. Not earlier for compat: `python -m halyard.compat` runs it.
    if name in ("compat", "edgefirst", "horus", "typing"):
        return _import_module(f"halyard.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
