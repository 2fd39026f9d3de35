"""MinHash and LSH by a Python package: texts of a JSON array in, CPU seconds and groups out.

    minhash.py datasketch|rensa texts.json

The work: lower case, white space collapsed, distinct 3-word shingles, 256 permutations, 32 bands of
8 rows, candidates whose estimate reaches .75, groups by union-find. No score is computed exactly.
Reading the JSON is not counted; everything after it is, on all threads.
"""

import json
import sys
import time


def shingles(text):
    words = text.lower().split()
    return {" ".join(words[i : i + 3]) for i in range(len(words) - 2)}


def with_datasketch(texts):
    import xxhash
    from datasketch import MinHash, MinHashLSH

    lsh = MinHashLSH(num_perm=256, params=(32, 8))
    for number, text in enumerate(texts):
        found = shingles(text)
        if not found:
            continue
        sketch = MinHash(num_perm=256, hashfunc=xxhash.xxh32_intdigest)
        sketch.update_batch([s.encode("utf8") for s in found])
        sketches[number] = sketch
        for other in lsh.query(sketch):
            if sketch.jaccard(sketches[other]) >= 0.75:
                yield number, other
        lsh.insert(number, sketch)


def with_rensa(texts):
    from rensa import RMinHash, RMinHashLSH

    lsh = RMinHashLSH(threshold=0.75, num_perm=256, num_bands=32)
    for number, text in enumerate(texts):
        found = shingles(text)
        if not found:
            continue
        sketch = RMinHash(num_perm=256, seed=42)
        sketch.update(list(found))
        sketches[number] = sketch
        for other in lsh.query(sketch):
            if sketch.jaccard(sketches[other]) >= 0.75:
                yield number, other
        lsh.insert(number, sketch)


sketches = {}


def main():
    package, path = sys.argv[1:]
    with open(path, encoding="utf8") as file:
        texts = json.load(file)
    run = {"datasketch": with_datasketch, "rensa": with_rensa}[package]
    cpu, wall = time.process_time(), time.monotonic()
    parent = list(range(len(texts)))

    def root(i):
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    pairs = 0
    for a, b in run(texts):
        pairs += 1
        parent[root(a)] = root(b)
    sizes = {}
    for i in range(len(texts)):
        sizes[root(i)] = sizes.get(root(i), 0) + 1
    groups = sum(1 for size in sizes.values() if size > 1)
    print(
        json.dumps(
            {
                "cpuSeconds": time.process_time() - cpu,
                "wallSeconds": time.monotonic() - wall,
                "pairs": pairs,
                "groups": groups,
            }
        )
    )


main()
