# SPDX-License-Identifier: Apache-2.0
"""Writes reference_members.txt: what programs written for EdgeFirst HAL may call.

    python reference_members.py > reference_members.txt

Run it where the package edgefirst-hal 0.28.3 is installed. A line is a name of the module or
`Class.member`, then the parameters of a call. Names that only 0.24 had follow, from the list below.
"""
import re

# Named by that generation's documents alone.
OLDER = """
Rect (left, top, width, height)
Rotation.Rotate90
Rotation.Rotate270
Tensor.load (path, format)
Tensor.decode_image (data, format)
Tensor.peek_image_info (data, format)
ImageProcessor.convert (src, dst, rotation, flip, src_crop, dst_crop, dst_color)
ImageProcessor.draw_masks (decoder, model_output, dst)
""".split("\n")


def parameters(item):
    """"(a, b)" of a callable; empty where it is none or does not say."""
    signature = getattr(item, "__text_signature__", None)
    if not signature:
        return ""
    names = [re.split("[=:]", part)[0].strip(" *") for part in
             re.sub(r"\([^()]*\)", "", signature[1:-1]).split(",")]
    return "(" + ", ".join(n for n in names if n and n not in ("$self", "$cls", "/", "*")) + ")"


def lines(module):
    for name in sorted(dir(module)):
        item = getattr(module, name)
        if name.startswith("_") or not callable(item):
            continue
        yield f"{name} {parameters(item)}".strip()
        if not isinstance(item, type):
            continue
        for member in sorted(dir(item)):
            if not member.startswith("_"):
                yield f"{name}.{member} {parameters(getattr(item, member))}".strip()


def main():
    import edgefirst_hal

    print(f"# Made by reference_members.py from edgefirst_hal {edgefirst_hal.version()}")
    print("\n".join(lines(edgefirst_hal)))
    print("# 0.24")
    print("\n".join(line for line in OLDER if line))


if __name__ == "__main__":
    main()
