"""Meets candidate pairs by the functions of the Spark job, in one session, and prints the cost.

First a few hundred texts, with limits so low that they have keys of several tiles and crowded ones:
the pairs are those of a plain reading of the same rules. Then a key of 100,000 texts with the limits
as shipped; besides it every text has a key of its own and one that 500 texts share. Shuffles have 16
partitions there, so that rows of one key that stay together would show.
"""

import json
import random
import sys
import time

sys.path.insert(0, f"{sys.argv[1]}/deploy/spark")

import steward_dedup as job
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

TEXTS, BANDS = 300, 4
MEMBERS, SHARED = 100_000, 500


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


def check_pairs():
    as_shipped = job.CROWDED, job.FOLLOWING, job.TILE
    job.CROWDED, job.FOLLOWING, job.TILE = 40, 5, 8
    source = random.Random(3)
    keys = [0] * 4 + list(range(1, 12))
    bands = [[source.choice(keys) for _ in range(BANDS)] for _ in range(TEXTS)]
    texts = spark.createDataFrame(list(enumerate(bands)), "text long, bands array<long>")
    rows = job.candidate_keys(texts)
    met = job.tiled_pairs(rows).union(job.crowded_pairs(rows)).distinct()
    found = {(row.a, row.b) for row in met.collect()}
    wanted = expected(bands)
    job.CROWDED, job.FOLLOWING, job.TILE = as_shipped
    return {"tooMany": len(found - wanted), "missing": len(wanted - found)}


def measure_skew():
    spark.conf.set("spark.sql.shuffle.partitions", "16")
    bands = F.array(F.lit(7), F.col("text") + 1_000_000, F.floor(F.col("text") / SHARED))
    texts = spark.range(MEMBERS).select(F.col("id").alias("text")).withColumn("bands", bands)
    start = time.monotonic()
    keys = job.candidate_keys(texts).persist()
    longest = keys.agg(F.max("members")).first()[0]
    tiled = job.tiled_pairs(keys).count()
    crowded = job.crowded_pairs(keys).groupBy(F.spark_partition_id().alias("task")).count().collect()
    seconds = time.monotonic() - start
    counts = [row["count"] for row in crowded]
    return {
        "members": longest,
        "tiledPairs": tiled,
        "crowdedPairs": sum(counts),
        "tasks": len(counts),
        "largestTask": max(counts),
        "seconds": round(seconds, 1),
    }


spark = SparkSession.builder.getOrCreate()
print(json.dumps({"pairs": check_pairs(), "skew": measure_skew()}))
spark.stop()
