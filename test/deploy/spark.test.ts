/** The Spark job finds the groups and scores of the single machine. Needs pyspark and Java. */
import { spawnSync } from "node:child_process";
import { globSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { removeTemporaryFolders, runSteward, temporaryFolder } from "../contract/daemon.ts";
import { LAUNCHER } from "../support/launcher.ts";
import { root } from "./watched.ts";

afterAll(removeTemporaryFolders);

const python = join(root, ".cache/spark/bin/python");
const ready =
  spawnSync("java", ["-version"]).status === 0 &&
  spawnSync(python, ["-c", "import pyspark"]).status === 0;
if (!ready)
  process.stderr.write(
    "skipped: the Spark job (no Java, or no pyspark in .cache/spark; `.ci/run` puts it there)\n",
  );

/** Without the second compiler of Java, which takes more time than it gives to jobs this short. */
const SUBMIT =
  "--master local[2] --driver-java-options '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC' --conf spark.sql.shuffle.partitions=2 --conf spark.default.parallelism=2 --conf spark.ui.enabled=false pyspark-shell";
const sparkEnvironment = {
  ...process.env,
  PYSPARK_SUBMIT_ARGS: SUBMIT,
  PYSPARK_PYTHON: python,
  SPARK_LOCAL_IP: "127.0.0.1",
};

const words =
  "fence garden plot paint brush owner north spring meeting minutes invoice total".split(" ");

/** Families of near-identical texts, copies, and one phrase that many texts share. */
function generated(): { id: string; content: string }[] {
  return Array.from({ length: 400 }, (_, i) => {
    const family = Math.floor(i / 8);
    const own = Array.from(
      { length: 60 },
      (__, at) => `${words[(at * 7 + family) % 12]}${family}${at}`,
    );
    if (i % 8 > 1) own[i % 8] = `changed${i}`;
    return { id: `d${i}`, content: own.join(" ") };
  });
}

/** Texts of this repository. */
function real(): { id: string; content: string }[] {
  return globSync("docs/**/*.md", { cwd: root }).map((path) => ({
    id: path,
    content: readFileSync(join(root, path), "utf8"),
  }));
}

it.skipIf(!ready)(
  "finds the same groups with the same scores as one machine",
  async () => {
    const folder = temporaryFolder();
    const input = join(folder, "documents.jsonl");
    const documents = [...generated(), ...real()];
    writeFileSync(input, documents.map((each) => JSON.stringify(each)).join("\n"));
    const output = join(folder, "output");
    const job = spawnSync(
      python,
      [join(root, "deploy/spark/steward_dedup.py"), input, output, "--steward", LAUNCHER],
      {
        encoding: "utf8",
        env: sparkEnvironment,
      },
    );
    expect(job.status, job.stderr.slice(-4_000)).toBe(0);
    const groups = readdirSync(join(output, "groups"))
      .filter((name) => name.startsWith("part-"))
      .flatMap((name) => readFileSync(join(output, "groups", name), "utf8").split("\n"))
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line));
    const found = new Map(groups.map((group) => [group.members.join(), meanOf(group)]));
    const single = JSON.parse((await runSteward(["dedup", "--json", "--quiet", input])).stdout);
    const expected = single.groups.map((group: any) => [
      group.members
        .map((member: any) => member.id as string)
        .sort()
        .join(),
      group.confidence,
    ]);
    expect(expected.length).toBeGreaterThan(40);
    expect(new Set(found.keys())).toEqual(new Set(expected.map(([members]: [string]) => members)));
    for (const [members, confidence] of expected)
      expect(found.get(members)).toBeCloseTo(confidence, 12);
  },
  900_000,
);

it.skipIf(!ready)("takes a partition without documents, and no filter that fails", () => {
  const lines = (...ids: readonly string[]): string[] =>
    ids.map((id) => JSON.stringify({ id, content: "few words" }));
  const rows = (command: readonly string[], partition: readonly string[]): string =>
    spawnSync(
      python,
      [
        "-c",
        "import json, sys; import steward_dedup as job; print(list(job.sign_partition(*json.loads(sys.argv[1]))))",
        JSON.stringify([command, partition]),
      ],
      { encoding: "utf8", env: { ...sparkEnvironment, PYTHONPATH: join(root, "deploy/spark") } },
    )
      .output.join("")
      .trimEnd()
      .split("\n")
      .at(-1) ?? "";
  const sign = [LAUNCHER, "sign", "--quiet", "--workers", "1"];
  expect(rows(sign, lines("a", "b"))).toBe("[]");
  expect(rows(sign, lines("", ""))).toBe("[]");
  const failing = ["sh", "-c", "echo {}; cat > /dev/null; echo no disk >&2; exit 1"];
  expect(rows(failing, lines("a"))).toMatch(/FilterFailed: sh -c exited with 1: no disk$/);
});

it.skipIf(!ready)(
  "finds the pairs of long and crowded keys by the rules of the join, and meets a key of 100,000 texts in bounded pairs that no task has most of",
  () => {
    const job = spawnSync(python, [join(import.meta.dirname, "spark-join.py"), root], {
      encoding: "utf8",
      env: sparkEnvironment,
    });
    expect(job.status, job.stderr.slice(-4_000)).toBe(0);
    process.stderr.write(`a key of 100,000 texts: ${job.stdout}`);
    const found = JSON.parse(job.stdout);
    expect(found.pairs).toEqual({ tooMany: 0, missing: 0 });
    const { tasks, largestTask, seconds, ...pairs } = found.skew;
    expect(pairs).toEqual({
      members: 100_000,
      tiledPairs: (200 * (500 * 499)) / 2,
      crowdedPairs: 100_000 * 128,
    });
    expect(tasks).toBe(16);
    expect(largestTask).toBeLessThan((2 * pairs.crowdedPairs) / tasks);
    expect(seconds).toBeLessThan(300);
  },
  600_000,
);

/** The mean over the verified pairs of documents, as a group of one machine has it. */
function meanOf(group: any): number {
  const count = new Map<string, number>(
    group.texts.map((each: any) => [each.identity, each.ids.length]),
  );
  let pairs = 0;
  let sum = 0;
  const add = (score: number, times: number): void => {
    pairs += times;
    sum += score * times;
  };
  for (const n of count.values()) add(1, (n * (n - 1)) / 2);
  for (const { a, b, confidence } of group.edges)
    add(confidence, (count.get(a) ?? 0) * (count.get(b) ?? 0));
  return sum / pairs;
}
