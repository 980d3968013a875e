"""Freezes scikit-learn's copy of the UCI handwritten digits as one CSV and prints its SHA-256.

Needed once: ``specs/digits/digits.csv`` is in the repository. It stands here so that anybody can make it again and
compare (``pip install scikit-learn``, then ``python tools/freeze_digits.py digits.csv``).
"""

import hashlib
import sys
from pathlib import Path


def main(path: Path) -> None:
    """Write one row an image: ``id``, ``label``, and 64 pixels of 0 to 16, row by row from the top left."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    lines = [",".join(["id", "label", *(f"p{row}{column}" for row in range(8) for column in range(8))])]
    for index, (pixels, label) in enumerate(zip(digits.data, digits.target, strict=True)):
        lines.append(",".join([f"digit-{index:04}", str(label), *(str(int(pixel)) for pixel in pixels)]))
    content = ("\n".join(lines) + "\n").encode()
    path.write_bytes(content)
    print(f"{path}: {len(lines) - 1} rows, sha256 {hashlib.sha256(content).hexdigest()}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
