# SPDX-License-Identifier: Apache-2.0
"""Rule `calls` of tools/check.py: calls that one file alone makes, for it checks what they give."""
import re

# Call -> the file that makes it.
HOMES_OF_CALLS = {"PyObject_GetBuffer": "python/src/tensor/array_view.cpp"}


def rule_calls(tree):
    """Calls whose results need checks are made by the one file that has the checks."""
    for path, text in tree.files("python/", "src/", suffixes={".cpp", ".h"}):
        for number, line in enumerate(text.splitlines(), 1):
            for name, home in HOMES_OF_CALLS.items():
                if path != home and re.search(rf"\b{name}\s*\(", line.split("//")[0]):
                    tree.breach("calls", path, number, f"only {home} calls {name}")
