"""Meets the members of one key of 100,000 texts with the limits as shipped, and prints the cost.

Besides it every text has a key of its own and one that 500 texts share. Shuffles have 16 partitions,
so that rows of one key that stay together would show.
"""

import json
import sys
import time

sys.path.insert(0, f"{sys.argv[1]}/deploy/spark")

import steward_dedup as job
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

MEMBERS, SHARED = 100_000, 500

spark = SparkSession.builder.config("spark.sql.shuffle.partitions", "16").getOrCreate()
bands = F.array(F.lit(7), F.col("text") + 1_000_000, F.floor(F.col("text") / SHARED))
texts = spark.range(MEMBERS).select(F.col("id").alias("text")).withColumn("bands", bands)
start = time.monotonic()
keys = job.candidate_keys(texts).persist()
longest = keys.agg(F.max("members")).first()[0]
tiled = job.tiled_pairs(keys).count()
crowded = job.crowded_pairs(keys).groupBy(F.spark_partition_id().alias("task")).count().collect()
seconds = time.monotonic() - start
spark.stop()
counts = [row["count"] for row in crowded]
print(
    json.dumps(
        {
            "members": longest,
            "tiledPairs": tiled,
            "crowdedPairs": sum(counts),
            "tasks": len(counts),
            "largestTask": max(counts),
            "seconds": round(seconds, 1),
        }
    )
)
