#!/usr/bin/env python3
"""Every field of the schema table is given in some text that a test compiles: a golden, an example, or the tests of lower."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
rows = re.findall(r'^KFT_FIELD\((\w+), ([\w*]+),', (root / "compiler/sema/schema.def").read_text(), re.M)
texts = [path.read_text() for folder in ("tests/golden", "examples", "stdlib") for path in sorted((root / folder).rglob("*.kft"))]
texts.append((root / "tests/unit/ir/lower_test.cpp").read_text())
text = "\n".join(re.sub(r"^\s*#.*$", "", each, flags=re.M) for each in texts)
# A field is a name before `=`, `+=` or `{`; members of `policy` and `gang` may be named as text.
given = set(re.findall(r"(?<![\w.])(\w+)\s*(?:\+?=|\{)", text)) | set(re.findall(r"(?:policy|gang) = \"(\w+)\"", text))
given |= {name for name, _ in re.findall(r"(?<![\w.])(group|patch) (\w+)", text)}
missing = [f"{block}.{field}" for block, field in rows if field != "*" and field not in given]
if missing:
    sys.exit("no test gives: " + ", ".join(missing))
print(f"{len(rows)} fields")
