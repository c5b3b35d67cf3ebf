#!/usr/bin/env python3
"""Checks the samples of the documentation: check-samples.py KFTC FILE-OR-FOLDER...

Every block marked ```kft is a whole file: it must pass `kftc check` without a word. Blocks marked ```kft-part show a few lines of
a file and are only looked at by people. A first line `# file: NAME` gives a block a name, so that later blocks of the same page
can import it; a block of the same name replaces it.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

root = Path(__file__).resolve().parent.parent


def blocks(page: Path):
    inside, first = None, 0
    for number, line in enumerate(page.read_text(encoding="utf-8").split("\n"), 1):
        if inside is None and line == "```kft":
            inside, first = [], number + 1
        elif inside is not None and line == "```":
            yield first, "\n".join(inside) + "\n"
            inside = None
        elif inside is not None:
            inside.append(line)
    if inside is not None:
        raise SystemExit(f"{page}:{first}: block without an end")


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
            for first, text in blocks(page):
                head = text.split("\n", 1)[0]
                name = head.removeprefix("# file: ") if head.startswith("# file: ") else f"sample-{first}.kft"
                target = Path(folder) / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text, encoding="utf-8")
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
