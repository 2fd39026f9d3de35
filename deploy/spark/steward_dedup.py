"""Groups near-duplicate documents of JSON Lines on a Spark cluster.

Spark moves the data; `steward sign` and `steward verify` compute. The groups are those of
`steward dedup` on one machine: see docs/distributed.md.
"""

import argparse
import base64
import collections
import itertools
import json
import math
import subprocess
import threading

from pyspark import StorageLevel
from pyspark.sql import SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql import types as T

# Members of a key that are compared in full at most; above, each with those that follow it.
CROWDED = 8_192
FOLLOWING = 128
# Rows of a tile are at most twice this many on average.
TILE = 512
# Candidates that a text keeps.
NEIGHBOURS = 1_024
# What `steward verify` takes of one component.
COMPONENT_TEXTS = 1_000_000
COMPONENT_PAIRS = 16_000_000
COMPONENT_BYTES = 512 * 2**20
# Label rounds; large-star and small-star need about log2 of the texts of a component.
ROUNDS = 64
PAIRS_OF_A_LINE = 4_096
# What `steward sign` says of lines of which none is a document, e.g. without usable ids.
NO_DOCUMENT = "nothing was signed"
SKETCH_CHANCE = 1 / 256


class FilterFailed(RuntimeError):
    """A filter ended with an exit code that is not 0; the message ends with what it said."""


def pipe(command, lines):
    """Yields the output lines of a command while a thread feeds it; both wait for a slow other."""
    child = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    said = collections.deque(maxlen=20)
    broken = []

    def feed():
        try:
            with child.stdin as target:
                for line in lines:
                    target.write(line.encode("utf-8") + b"\n")
        except BrokenPipeError:
            pass  # The exit code says why.
        except BaseException as error:  # Raised by the thread that reads.
            broken.append(error)
            child.kill()

    threads = [
        threading.Thread(target=feed, daemon=True),
        threading.Thread(target=lambda: said.extend(child.stderr), daemon=True),
    ]
    for thread in threads:
        thread.start()
    try:
        for line in child.stdout:
            yield line
        code = child.wait()
        for thread in threads:
            thread.join()
        if broken:
            raise broken[0]
        if code != 0:
            message = b"".join(said).decode("utf-8", "replace").strip()
            raise FilterFailed(f"{' '.join(command[:2])} exited with {code}: {message}")
    finally:
        child.kill()
        child.stdout.close()
        child.wait()


def sign_partition(command, lines):
    """Rows (id, identity, bands, sketch) of lines of JSON. A partition without documents has none."""
    lines = iter(lines)
    first = next(lines, None)
    if first is None:
        return

    signed = pipe(command, itertools.chain([first], lines))
    next(signed)  # The parameters.
    try:
        for line in signed:
            value = json.loads(line)
            yield (
                value["id"],
                bytearray.fromhex(value["identity"]),
                value["bands"],
                bytearray(base64.b64decode(value["sketch"])),
            )
    except FilterFailed as failure:
        # It exits with 1 when no line is a document; another partition may have some.
        if NO_DOCUMENT not in str(failure):
            raise


SIGNED = T.StructType(
    [
        T.StructField("id", T.StringType(), False),
        T.StructField("identity", T.BinaryType(), False),
        T.StructField("bands", T.ArrayType(T.LongType(), False), False),
        T.StructField("sketch", T.BinaryType(), False),
    ]
)
EQUAL = T.IntegerType()


def least_equal(options):
    """The fewest equal sketch bytes of a pair that may still reach the threshold."""
    size = options.permutations
    fuzzy, jaccard = options.fuzzy_weight / 100, 1 - options.fuzzy_weight / 100
    floor = 0 if jaccard == 0 else max(0, (options.threshold - fuzzy) / jaccard)
    bound = floor - 1e-9 - 1.6 / math.sqrt(size)
    return max(0, math.ceil((bound * (1 - SKETCH_CHANCE) + SKETCH_CHANCE) * size - 1e-9))


def equal_bytes(a, b):
    """How many bytes of two sketches are equal."""
    differing = int.from_bytes(a, "big") ^ int.from_bytes(b, "big")
    return differing.to_bytes(len(a), "big").count(0)


def candidate_keys(texts):
    """(text, band, key, members) of all keys that more than one text has."""
    keys = texts.select("text", F.posexplode("bands").alias("band", "key"))
    runs = keys.groupBy("band", "key").agg(F.count("*").alias("members")).where("members > 1")
    return keys.join(runs, ["band", "key"])


def spread(rows, *columns):
    """Rows in as many partitions as shuffles have, by all of these columns.

    Said with a number: else Spark keeps rows of one key where a join or a window by the key has put
    them, or merges partitions whose rows are small and whose pairs are many.
    """
    partitions = int(rows.sparkSession.conf.get("spark.sql.shuffle.partitions"))
    return rows.repartition(partitions, *columns)


def tiled_pairs(keys):
    """Pairs that share a key of at most CROWDED members.

    A key of m members is cut into ceil(m / TILE) blocks, and each two blocks are a tile: no task
    has more rows of one key than two blocks hold.
    """
    blocks = F.ceil(F.col("members") / F.lit(TILE)).cast("int")
    rows = keys.where(F.col("members") <= CROWDED).withColumn("blocks", blocks)
    rows = rows.withColumn("block", F.pmod(F.xxhash64("text"), "blocks").cast("int"))
    rows = rows.withColumn("other", F.explode(F.sequence(F.lit(0), F.col("blocks") - 1)))
    rows = rows.select(
        "band",
        "key",
        F.least("block", "other").alias("low"),
        F.greatest("block", "other").alias("high"),
        "block",
        "text",
    )
    rows = spread(rows, "band", "key", "low", "high")
    left = rows.withColumnRenamed("text", "a").withColumnRenamed("block", "block_a")
    right = rows.withColumnRenamed("text", "b").withColumnRenamed("block", "block_b")
    met = left.join(right, ["band", "key", "low", "high"]).where(
        (F.col("a") < F.col("b"))
        & ((F.col("low") == F.col("high")) | (F.col("block_a") != F.col("block_b")))
    )
    return met.select("a", "b")


def crowded_pairs(keys):
    """Of a longer run each member with those that follow it, in the first such run it is in."""
    crowded = keys.where(F.col("members") > CROWDED)
    first = Window.partitionBy("text").orderBy("band")
    own = crowded.withColumn("rank", F.row_number().over(first)).where("rank = 1")
    run = Window.partitionBy("band", "key")
    own = own.withColumn("rank", F.row_number().over(run.orderBy("text")) - 1)
    own = own.withColumn("size", F.count("*").over(run))
    steps = F.least(F.lit(FOLLOWING), F.floor((F.col("size") - 1) / 2)).cast("int")
    following = spread(own.withColumn("steps", steps).where("steps > 0"), "text")
    following = following.withColumn("step", F.explode(F.sequence(F.lit(1), F.col("steps"))))
    following = following.select(
        "band",
        "key",
        ((F.col("rank") + F.col("step")) % F.col("size")).alias("rank"),
        F.col("text").alias("one"),
    )
    met = following.join(own.select("band", "key", "rank", "text"), ["band", "key", "rank"])
    return met.select(F.least("one", "text").alias("a"), F.greatest("one", "text").alias("b"))


def sketched_pairs(met, texts, least):
    """Pairs (a, b, equal) whose sketches are alike enough."""
    count = F.udf(equal_bytes, EQUAL)
    sketches = texts.select("text", "sketch")
    pairs = met.join(sketches.toDF("a", "sketch_a"), "a").join(sketches.toDF("b", "sketch_b"), "b")
    pairs = pairs.select("a", "b", count("sketch_a", "sketch_b").alias("equal"))
    return pairs.where(F.col("equal") >= least)


def best_pairs(pairs):
    """Pairs that one of both ends keeps: its NEIGHBOURS best by equal bytes, then by text."""
    ends = pairs.select(F.col("a").alias("one"), F.col("b").alias("other"), "equal").union(
        pairs.select(F.col("b").alias("one"), F.col("a").alias("other"), "equal")
    )
    order = Window.partitionBy("one").orderBy(F.desc("equal"), "other")
    kept = ends.withColumn("rank", F.row_number().over(order)).where(F.col("rank") <= NEIGHBOURS)
    return kept.select(
        F.least("one", "other").alias("a"), F.greatest("one", "other").alias("b"), "equal"
    ).distinct()


def components_of(pairs):
    """(text, component) by large-star and small-star (Kiveris et al. 2014)."""
    edges = pairs.select(F.col("a").alias("u"), F.col("b").alias("v")).localCheckpoint()
    before = None
    for _ in range(ROUNDS):
        edges = small_star(large_star(edges)).localCheckpoint()
        state = edges.agg(F.count("*"), F.sum(F.xxhash64("u", "v").cast("decimal(38,0)"))).first()
        if state == before:
            labels = edges.select(F.col("u").alias("text"), F.col("v").alias("component"))
            roots = edges.select(F.col("v").alias("text"), F.col("v").alias("component"))
            return labels.union(roots).distinct()
        before = state
    raise RuntimeError(f"the components did not settle in {ROUNDS} rounds; raise ROUNDS")


def large_star(edges):
    """Every larger neighbour of a text points to the least neighbour of that text."""
    both = edges.select("u", "v").union(edges.select(F.col("v"), F.col("u"))).toDF("u", "v")
    least = both.groupBy("u").agg(F.least("u", F.min("v")).alias("least"))
    return both.where("v > u").join(least, "u").select(F.col("v").alias("u"), "least").distinct()


def small_star(edges):
    """A text and its lesser neighbours point to the least of them."""
    lesser = edges.toDF("u", "v")
    least = lesser.groupBy("u").agg(F.min("v").alias("least"))
    own = least.select("u", "least")
    others = lesser.join(least, "u").select(F.col("v").alias("u"), "least")
    return own.union(others).where("u <> least").distinct().toDF("u", "v")


def cover_partition(command, header, rows):
    """Groups of components whose rows come one after the other: texts first, then pairs."""

    def lines():
        yield json.dumps(header)
        component, positions, pairs = None, {}, []

        def flush():
            text = json.dumps({"pairs": pairs})
            pairs.clear()
            return text

        for row in rows:
            if row["component"] != component:
                if pairs:
                    yield flush()
                if component is not None:
                    yield json.dumps({"end": str(component)})
                component, positions = row["component"], {}
                yield json.dumps({"component": str(component)})
            if row["b"] is None:
                positions[row["a"]] = len(positions)
                identity = bytes(row["identity"]).hex()
                yield json.dumps({"id": identity, "identity": identity, "text": row["content"]})
                continue
            pairs.append([positions[row["a"]], positions[row["b"]], row["equal"]])
            if len(pairs) == PAIRS_OF_A_LINE:
                yield flush()
        if pairs:
            yield flush()
        if component is not None:
            yield json.dumps({"end": str(component)})

    rows = iter(rows)
    first = next(rows, None)
    if first is None:
        return
    rows = itertools.chain([first], rows)
    for line in pipe(command, lines()):
        value = json.loads(line)
        if "centre" in value:
            yield value


def group_of(documents, value):
    """A group of documents from a group of texts."""
    scores = ("jaccard", "fuzzy", "discriminative", "confidence")
    identities = [value["centre"], *(member["id"] for member in value["members"])]
    return {
        "members": sorted(id for identity in identities for id in documents[identity]),
        "texts": [{"identity": one, "ids": sorted(documents[one])} for one in identities],
        "edges": [
            {"a": value["centre"], "b": member["id"], **{name: member[name] for name in scores}}
            for member in value["members"]
        ],
    }


def run(spark, options):
    """Runs the job; returns its summary. Writes groups and what was left out below `output`."""
    sign = [options.steward, "sign", "--quiet", "--workers", "1"]
    sign += ["--min-words", str(options.min_words), "--ngram", str(options.ngram)]
    sign += ["--permutations", str(options.permutations), "--bands", str(options.bands)]
    sign += ["--id-field", "id", "--text-field", "content"]
    verify = [options.steward, "verify", "--cover", "--workers", "1"]
    verify += ["--threshold", repr(options.threshold), "--penalty", str(options.penalty)]
    verify += ["--fuzzy-weight", str(options.fuzzy_weight)]
    verify += ["--fuzzy-sample", str(options.fuzzy_sample)]
    header = json.loads(subprocess.run(sign, input=b"", stdout=subprocess.PIPE, check=True).stdout)

    names = {"id": options.id_field, "content": options.text_field}
    source = T.StructType([T.StructField(name, T.StringType()) for name in names.values()])
    documents = spark.read.schema(source).json(options.input)
    documents = documents.select([F.col(f"`{name}`").alias(field) for field, name in names.items()])
    documents = documents.where("id IS NOT NULL AND content IS NOT NULL")

    signed = spark.createDataFrame(
        documents.toJSON().mapPartitions(lambda lines: sign_partition(sign, lines)), SIGNED
    ).persist(StorageLevel.DISK_ONLY)
    repeated = signed.groupBy("id").count().where("count > 1").first()
    if repeated is not None:
        raise ValueError(f"the id {repeated['id']!r} is that of several documents; ids must differ")
    same = signed.groupBy("identity").agg(
        F.first("bands").alias("bands"),
        F.first("sketch").alias("sketch"),
        F.min("id").alias("id"),
        F.count("*").alias("documents"),
    )
    # Ids ascend with the identities, whose order decides ties, as on one machine.
    texts = same.orderBy("identity").withColumn("text", F.monotonically_increasing_id())
    texts = texts.persist(StorageLevel.DISK_ONLY)
    distinct = texts.count()

    keys = candidate_keys(texts).persist(StorageLevel.DISK_ONLY)
    met = tiled_pairs(keys).union(crowded_pairs(keys)).distinct()
    pairs = best_pairs(sketched_pairs(met, texts, least_equal(options)))
    pairs = pairs.persist(StorageLevel.DISK_ONLY)
    candidates = pairs.count()
    keys.unpersist()

    components = components_of(pairs).persist(StorageLevel.DISK_ONLY)
    members = components.join(texts.select("text", "id", "identity"), "text")
    own = members.join(documents, "id")
    inside = pairs.join(components.withColumnRenamed("text", "a"), "a")
    sizes = (
        own.groupBy("component")
        .agg(F.count("*").alias("texts"), F.sum(F.octet_length("content")).alias("bytes"))
        .join(inside.groupBy("component").agg(F.count("*").alias("pairs")), "component")
    )
    fits = (
        (F.col("texts") <= COMPONENT_TEXTS)
        & (F.col("pairs") <= COMPONENT_PAIRS)
        & (F.col("bytes") <= COMPONENT_BYTES)
    )
    sizes = sizes.withColumn("fits", fits).persist(StorageLevel.DISK_ONLY)
    too_large = sizes.where(~F.col("fits"))
    left_out = too_large.count()
    too_large.join(members, "component").select("component", "id").write.mode("overwrite").json(
        f"{options.output}/components-too-large"
    )
    chosen = sizes.where("fits").select("component")
    none = F.lit(None)
    rows = own.select(
        "component",
        F.col("text").alias("a"),
        none.cast("long").alias("b"),
        none.cast("int").alias("equal"),
        "identity",
        "content",
    ).unionByName(
        inside.select(
            "component",
            "a",
            "b",
            "equal",
            none.cast("binary").alias("identity"),
            none.cast("string").alias("content"),
        )
    )
    rows = rows.join(chosen, "component").repartition("component")
    rows = rows.sortWithinPartitions("component", F.col("b").asc_nulls_first(), "a")
    covered = rows.rdd.mapPartitions(lambda part: cover_partition(verify, header, part))
    covered = covered.zipWithIndex().persist(StorageLevel.DISK_ONLY)

    by_text = signed.rdd.map(lambda row: (bytes(row["identity"]).hex(), row["id"]))
    by_text = by_text.groupByKey().mapValues(list)
    wanted = covered.flatMap(
        lambda pair: [
            (identity, pair[1])
            for identity in [pair[0]["centre"], *(m["id"] for m in pair[0]["members"])]
        ]
    )
    in_groups = wanted.join(by_text).map(lambda one: (one[1][0], (one[0], one[1][1])))
    found = (
        covered.map(lambda pair: (pair[1], pair[0]))
        .join(in_groups.groupByKey())
        .map(lambda one: group_of(dict(one[1][1]), one[1][0]))
    )
    copies = by_text.filter(lambda one: len(one[1]) > 1).subtractByKey(wanted)
    equal = copies.map(
        lambda one: group_of({one[0]: one[1]}, {"centre": one[0], "members": []})
    )
    groups = found.union(equal).map(lambda group: json.dumps(group))
    spark.createDataFrame(groups, T.StringType()).write.mode("overwrite").text(
        f"{options.output}/groups"
    )
    return {
        "documents": signed.count(),
        "texts": distinct,
        "candidates": candidates,
        "groups": spark.read.text(f"{options.output}/groups").count(),
        "componentsLeftOut": left_out,
    }


def parse(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("input", help="JSON Lines: a file, folder or pattern that Spark can read")
    parser.add_argument("output", help="a folder; groups are written below it as JSON Lines")
    parser.add_argument("--steward", default="steward", help="the launcher, on every worker")
    parser.add_argument("--id-field", default="id")
    parser.add_argument("--text-field", default="content")
    parser.add_argument("--threshold", type=float, default=0.75)
    parser.add_argument("--fuzzy-weight", type=int, default=40)
    parser.add_argument("--fuzzy-sample", type=int, default=10_000)
    parser.add_argument("--penalty", type=int, default=70)
    parser.add_argument("--min-words", type=int, default=20)
    parser.add_argument("--ngram", type=int, default=3)
    parser.add_argument("--permutations", type=int, default=256)
    parser.add_argument("--bands", type=int, default=64)
    return parser.parse_args(arguments)


def main():
    options = parse()
    spark = SparkSession.builder.appName("steward-dedup").getOrCreate()
    try:
        print(json.dumps(run(spark, options)))
    finally:
        spark.stop()


if __name__ == "__main__":
    main()
