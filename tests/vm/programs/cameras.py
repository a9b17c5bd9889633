# SPDX-License-Identifier: Apache-2.0
"""The test cameras of the machine (vivid): one with one buffer for all planes of an image, and one
with a buffer for each."""
import halyard

FOUND = sorted(found.path for found in halyard.cameras() if found.driver == "vivid")
if len(FOUND) != 2:
    raise RuntimeError(f"the machine has the cameras {FOUND}, not two of vivid")
ONE_BUFFER, BUFFER_EACH = FOUND
