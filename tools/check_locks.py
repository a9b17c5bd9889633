# SPDX-License-Identifier: Apache-2.0
"""Rule `locks` of tools/check.py: each mutex of the library has a rank; docs/threads.md lists the
ranks in their order, and each mutex."""
import re

HEADER, PAGE = "src/base/system/ranked_mutex.h", "docs/threads.md"
# ForkMutex itself, and one that a public class names.
EXEMPT = (HEADER, "src/base/ranked_condition.h", "src/base/system/threads.cpp")
PUBLIC = {("src/compat/byte_track.cpp", "ForkMutex mutex;")}
PLAIN = re.compile(r"\bstd::(?:\w+_)?mutex\b|\bstd::condition_variable|\bForkMutex \w+[;{]")
FORK_LOCK = re.compile(r"\bFork(?:Taking)?Lock\b")
HELD = re.compile(r"\bHeldRank<LockRank::(\w+)>")
RANKED = re.compile(r"\bRanked(?:Fork)?Mutex<LockRank::(\w+)(?:, [\w:]+)?> (\w+)[;{]")
ROW = re.compile(r"\| `(\w+)` \| `(src/[\w/.]+)` `(\w+)` \|")


def mutexes(tree):
    """(rank, file, name) of each mutex -> its line. Reports those without a rank."""
    found = {}
    for path, text in tree.files("src/", suffixes={".h", ".cpp"}):
        if not any(each.search(text) for each in (PLAIN, FORK_LOCK, HELD, RANKED)):
            continue
        before = ""
        for number, line in enumerate(text.splitlines(), 1):
            code = line.split("//")[0]
            if path not in EXEMPT:
                plain = PLAIN.search(code) or (not HELD.search(before) and FORK_LOCK.search(code))
                if plain and (path, code.strip()) not in PUBLIC:
                    tree.breach("locks", path, number, f"{plain.group(0)} has no rank: {HEADER}")
                for rank, name in RANKED.findall(code):
                    found[(rank, path, name)] = number
                for rank in HELD.findall(code):
                    found.setdefault((rank, path, None), number)
            before = code
    return found


def rule_locks(tree):
    """Each mutex of src/ has a rank; docs/threads.md lists the ranks in order, and all mutexes."""
    ranks = re.search(r"enum class LockRank[^{]*\{(.*?)\}", tree.texts.get(HEADER, ""), re.S)
    order = re.findall(r"\w+(?=,)", ranks.group(1)) if ranks else []
    page = tree.texts.get(PAGE, "")
    listed = re.findall(r"^\d+\. `(\w+)`", page, re.M)
    if listed != order:
        differ = next((pair for pair in zip(order + ["none"], listed + ["none"])
                       if pair[0] != pair[1]), ("none", "more"))
        tree.breach("locks", PAGE, 1, f"the ranks differ: {differ[0]} is {differ[1]} on the page")
    rows = {}
    for number, line in enumerate(page.splitlines(), 1):
        if match := ROW.match(line):
            rows[match.groups()] = number
    found = mutexes(tree)
    for rank, path, name in sorted(found, key=str):
        if not any((r, p) == (rank, path) and name in (None, n) for r, p, n in rows):
            tree.breach("locks", path, found[(rank, path, name)],
                        f"{PAGE} has no row of {name or 'the mutex'} with rank {rank}")
    for rank, path, name in rows:
        if not {(rank, path, name), (rank, path, None)} & set(found):
            tree.breach("locks", PAGE, rows[(rank, path, name)], f"{path} has no such {name}")
