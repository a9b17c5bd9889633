# SPDX-License-Identifier: Apache-2.0
"""Rule `calls` of tools/check.py: calls that only one file may make, which checks their results."""
import re

# Call -> the file that may make it.
HOMES_OF_CALLS = {"PyObject_GetBuffer": "python/src/tensor/array_view.cpp"}


def rule_calls(tree):
    """Calls whose results need checks are made only by the file that has the checks."""
    for path, text in tree.files("python/", "src/", suffixes={".cpp", ".h"}):
        for number, line in enumerate(text.splitlines(), 1):
            for name, home in HOMES_OF_CALLS.items():
                if path != home and re.search(rf"\b{name}\s*\(", line.split("//")[0]):
                    tree.breach("calls", path, number, f"only {home} calls {name}")
