#!/usr/bin/env python3
"""Compares docs/commands.md with the program: check-commands.py KFTC PAGE

Every command of `kftc --help` has a section, every section is a command, and a section names each option that its command has
besides those of all commands.
"""

import re
import subprocess
import sys
from pathlib import Path


def help_of(kftc: str, *words: str) -> str:
    return subprocess.run([kftc, *words, "--help"], capture_output=True, text=True, check=True, timeout=30).stdout


def options(text: str) -> set[str]:
    return set(re.findall(r"^  (?:-\w,|   ) ?(--[\w-]+)", text, re.M))


def main() -> int:
    kftc, page = sys.argv[1:3]
    text = Path(page).read_text(encoding="utf-8")
    sections = {name: body for name, body in re.findall(r"^## kftc (\w+)\n(.*?)(?=^## |\Z)", text, re.M | re.S)}
    top = help_of(kftc)
    common = options(top)
    commands = set(re.findall(r"^  (\w+)\s", re.sub(r"(?s)^(Common )?[Oo]ptions:.*", "", top, flags=re.M), re.M))
    problems = [f"no section for `{name}`" for name in sorted(commands - set(sections))]
    problems += [f"`{name}` is no command" for name in sorted(set(sections) - commands)]
    for name in sorted(commands & set(sections)):
        problems += [f"`{name}`: {option} is not mentioned" for option in sorted(options(help_of(kftc, name)) - common)
                     if option not in sections[name] and option != "--help"]
    for problem in problems:
        print(f"{page}: {problem}")
    print(f"{len(commands)} commands, {len(problems)} problems")
    return 1 if problems or not commands else 0


if __name__ == "__main__":
    sys.exit(main())
