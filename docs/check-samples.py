#!/usr/bin/env python3
"""Checks the samples of the documentation: check-samples.py KFTC FILE-OR-FOLDER...

Every block marked ```kft is a whole file: it must pass `kftc check` without a word. A line `<!-- file: NAME -->` before a block
gives it a name, so that later blocks of the same page can refer to it; a block of the same name replaces it. Other files, such as
data, are given names in the same way.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

root = Path(__file__).resolve().parent.parent


BLOCK = re.compile(r"(?:^<!-- file: (?P<name>\S+) -->\n)?^```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.M | re.S)


def main() -> int:
    kftc = Path(sys.argv[1]).resolve()
    pages = []
    for name in sys.argv[2:]:
        path = Path(name)
        pages += sorted(path.rglob("*.md")) if path.is_dir() else [path]
    passed = failed = 0
    for page in pages:
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(root / "examples/digits/data", Path(folder) / "data")
            content = page.read_text(encoding="utf-8")
            for block in BLOCK.finditer(content):
                if block["kind"] != "kft" and not block["name"]:
                    continue
                first = content.count("\n", 0, block.start("text")) + 1
                name, text = block["name"] or f"sample-{first}.kft", block["text"]
                target = Path(folder) / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text, encoding="utf-8")
                if block["kind"] != "kft":
                    continue
                result = subprocess.run([kftc, "check", name], cwd=folder, capture_output=True, text=True, timeout=60)
                if result.returncode == 0 and not result.stderr:
                    passed += 1
                else:
                    failed += 1
                    print(f"{page}:{first}: kftc check says ({result.returncode}):\n{result.stdout}{result.stderr}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
