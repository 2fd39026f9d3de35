"""Compares the pairs that the Spark job meets with those of a plain reading of the same rules.

Limits are lowered, so that a few hundred texts have keys of several tiles and crowded ones.
"""

import random
import sys

sys.path.insert(0, f"{sys.argv[1]}/deploy/spark")

import steward_dedup as job
from pyspark.sql import SparkSession

TEXTS, BANDS = 300, 4
job.CROWDED, job.FOLLOWING, job.TILE = 40, 5, 8


def expected(bands):
    runs = {}
    for text, keys in enumerate(bands):
        for band, key in enumerate(keys):
            runs.setdefault((band, key), []).append(text)
    crowded = {run for run, members in runs.items() if len(members) > job.CROWDED}
    assert crowded and len(crowded) < len(runs)
    pairs = set()
    for (band, key), members in runs.items():
        if (band, key) not in crowded:
            pairs |= {(a, b) for a in members for b in members if a < b}
            continue
        own = [
            text
            for text in members
            if not any((other, bands[text][other]) in crowded for other in range(band))
        ]
        following = min(job.FOLLOWING, (len(own) - 1) // 2)
        for rank, one in enumerate(own):
            for step in range(1, following + 1):
                other = own[(rank + step) % len(own)]
                pairs.add((min(one, other), max(one, other)))
    return pairs


spark = SparkSession.builder.getOrCreate()
source = random.Random(3)
keys = [0] * 4 + list(range(1, 12))
bands = [[source.choice(keys) for _ in range(BANDS)] for _ in range(TEXTS)]
texts = spark.createDataFrame(list(enumerate(bands)), "text long, bands array<long>")
rows = job.candidate_keys(texts)
met = job.tiled_pairs(rows).union(job.crowded_pairs(rows)).distinct()
found = {(row.a, row.b) for row in met.collect()}
spark.stop()
wanted = expected(bands)
if found != wanted:
    sys.exit(f"{len(found - wanted)} pairs too many, {len(wanted - found)} missing")
