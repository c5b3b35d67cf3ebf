#!/usr/bin/env python3
"""shipped.py EXPECTED_YAML FACTS: the runtimes of std.runtimes, written out, are as data what Kubeflow Trainer ships.

FACTS is a folder of manifests with those runtimes. It is no part of the repository; without it the test is skipped.
"""
import glob
import os
import sys


def skip(reason):
    print("skipped:", reason)
    sys.exit(77)


try:
    import yaml
except ImportError:
    skip("no PyYAML")


def normal(value, key=""):
    """What a cluster makes of it: amounts are texts."""
    if isinstance(value, dict):
        result = {k: normal(v, k) for k, v in value.items()}
        if key in ("limits", "requests"):
            result = {k: str(v) for k, v in result.items()}
        return result
    return [normal(item) for item in value] if isinstance(value, list) else value


def different(a, b, path=""):
    if isinstance(a, dict) and isinstance(b, dict):
        for key in sorted(set(a) | set(b)):
            if key not in a or key not in b:
                yield f"{path}.{key} is only in {'one' if key in a else 'the facts'}"
            else:
                yield from different(a[key], b[key], f"{path}.{key}")
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for i, (x, y) in enumerate(zip(a, b)):
            yield from different(x, y, f"{path}[{i}]")
    elif a != b:
        yield f"{path}: {a!r} instead of {b!r}"


written, facts = sys.argv[1:]
if not os.path.isdir(facts):
    skip("no manifests to compare with")
ours = {d["metadata"]["name"]: normal(d) for d in yaml.safe_load_all(open(written))}
known = {}
for file in sorted(glob.glob(facts + "/*.yaml")):
    for document in yaml.safe_load_all(open(file)):
        if document["kind"] == "ClusterTrainingRuntime":
            known.setdefault(document["metadata"]["name"], []).append(normal(document))

bad = 0
for name, runtime in ours.items():
    # The same runtimes come with the labels and image tags of the default overlay, too: one of the forms has to agree.
    results = [list(different(runtime, other)) for other in known.get(name, [])]
    if [] not in results:
        bad += 1
        print(name, *(min(results, key=len) if results else ["is unknown"]), sep="\n  ")
print(f"{len(ours) - bad} of {len(ours)} runtimes agree")
sys.exit(1 if bad or len(ours) != 10 else 0)
