#!/usr/bin/env python3
"""Does what docs/getting-started.md tells a reader to do: try-commands.py KFTC KFT-RANK PAGE

A block after `<!-- file: NAME -->` becomes that file; the lines of a block after `<!-- try -->` are run in a shell, in order,
and each must succeed.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

BLOCK = re.compile(r"^<!-- (?:file: (?P<file>\S+)|(?P<run>try)) -->\n```\w+\n(?P<text>.*?)^```$", re.M | re.S)


def main() -> int:
    kftc, rank, page = (Path(name).resolve() for name in sys.argv[1:4])
    environment = dict(os.environ, PATH=f"{kftc.parent}:{os.environ['PATH']}", KFT_RANK=str(rank))
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for block in BLOCK.finditer(page.read_text(encoding="utf-8")):
            if block["file"]:
                (Path(folder) / block["file"]).write_text(block["text"], encoding="utf-8")
                continue
            for line in block["text"].splitlines():
                # A reader is not root, and has two cores.
                if line.startswith("kftc run "):
                    line += " --allow-root --oversubscribe"
                result = subprocess.run(line, shell=True, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
                if result.returncode == 0:
                    passed += 1
                else:
                    failed += 1
                    print(f"$ {line}   ({result.returncode})\n{result.stdout}{result.stderr}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
