# SPDX-License-Identifier: Apache-2.0
"""Halyard: zero-copy tensors from sensor to decision."""
from ._core import __version__ as __version__
from ._errors import *  # noqa: F403
from ._tracing import *  # noqa: F403
