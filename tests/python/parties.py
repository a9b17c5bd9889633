# SPDX-License-Identifier: Apache-2.0
"""Parties that the tests of negotiation share."""
import os

import halyard as ef


def app(**more):
    """A party that wants a tensor of bytes, to read and write."""
    keys = {"t.dtype": "u8", "t.shape": [1, 3, 64, 100], "g.cpu": "read_write",
            "g.perm": "read_write"}
    return ef.AttributeList("app", {**keys, **more})


def shared(*others):
    """A buffer of memfd that "viewer" reads, too."""
    lists = [app(**{"g.export": True, "g.heaps": ["memfd"]}),
             ef.AttributeList("viewer", {"g.cpu": "read"}, process=os.getpid()), *others]
    return ef.reconcile(lists).allocate(1, party="app")[0]
