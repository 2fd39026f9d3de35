import { Readable } from "node:stream";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createLog } from "../../../src/kernel/base/log.ts";
import { failed } from "../../../src/kernel/client/failure.ts";
import type { SeriesScope } from "../../../src/kernel/telemetry/writer/scope.ts";
import { createTelemetryWriter } from "../../../src/kernel/telemetry/writer/writer.ts";
import type { Evidence } from "../../../src/monitor/checkpoints/types.ts";
import { createBucket, type Bucket } from "../../../src/monitor/objectstore/bucket.ts";
import { createFeed } from "../../../src/monitor/objectstore/feed.ts";
import type { ObjectStoreOptions } from "../../../src/monitor/options.ts";
import { createManualClock } from "../../kernel/supervisor/manual-clock.ts";
import { refusal, startBucket, type BucketServer } from "./bucket-server.ts";

const NOW_MS = Date.parse("2026-11-20T12:00:00Z");
const HOUR_MS = 3_600_000;

let bucket: BucketServer;
beforeEach(async () => {
  bucket = await startBucket();
});
afterEach(() => bucket.close());

function memory(): Evidence & { readonly held: Map<string, unknown> } {
  const held = new Map<string, unknown>();
  return {
    held,
    get: (key) => held.get(key),
    list: (prefix) =>
      [...held]
        .filter(([key]) => key.startsWith(prefix))
        .toSorted(([left], [right]) => (left < right ? -1 : 1)),
    change: (changes) => {
      for (const [key, value] of changes)
        if (value === undefined) held.delete(key);
        else held.set(key, JSON.parse(JSON.stringify(value)));
      return Promise.resolve();
    },
  };
}

const limits = { wireBytes: 1_000_000, decompressedBytes: 1_000_000, records: 1_000 };

/** The objects without a server, for tests with thousands of them. */
function local(): Bucket {
  return {
    list(prefix, after, most) {
      const keys = [...bucket.objects.keys()]
        .filter((key) => key.startsWith(prefix) && key > after)
        .toSorted();
      return Promise.resolve({ keys: keys.slice(0, most), more: keys.length > most });
    },
    read(key) {
      const object = bucket.objects.get(key);
      return object === undefined
        ? Promise.reject(failed({ class: "not_found", status: 404 }, "get"))
        : Promise.resolve(Readable.from([object]));
    },
    close: () => undefined,
  };
}

function setUp(
  changes: Partial<ObjectStoreOptions> = {},
  evidence = memory(),
  from: (options: ObjectStoreOptions) => Bucket = createBucket,
) {
  const clock = createManualClock();
  const scope = createTelemetryWriter({ clock }).scope({
    name: "n",
    resource: {},
    constants: {},
  }) as SeriesScope;
  const options: ObjectStoreOptions = {
    intervalMs: 60_000,
    endpoint: bucket.url,
    region: "eu-test-1",
    bucket: "logs",
    prefix: "",
    pathStyle: true,
    layout: "partitioned",
    lookbackMs: HOUR_MS,
    initialLookbackMs: 6 * HOUR_MS,
    maxObjects: 10,
    credentials: {
      accessKeyId: { sentSecret: "AKTEST", origin: "t" },
      secretAccessKey: { sentSecret: "very-secret", origin: "t" },
      sessionToken: undefined,
    },
    object: limits,
    cycle: limits,
    ...changes,
  };
  const rows: unknown[] = [];
  const received: number[] = [];
  const lines: string[] = [];
  let refuse = false;
  const s3 = from(options);
  const feed = createFeed(
    {
      clock,
      scope,
      evidence,
      bucket: s3,
      received: (bytes) => void received.push(bytes),
      log: createLog({
        level: "warn",
        format: "text",
        write: (line) => void lines.push(line),
        now: () => 0,
      }),
      accept: (given) => {
        if (refuse) return Promise.resolve({ accepted: 0, refused: { malformed: given.length } });
        rows.push(...given);
        return Promise.resolve({ accepted: given.length, refused: {} });
      },
    },
    "flow",
    options,
  );
  const series = (): Record<string, number> =>
    Object.fromEntries(
      [...scope.table.indexes()]
        .filter(({ row }) => row.kind !== "histogram")
        .flatMap((index) =>
          [...index.numbers()].map((number) => {
            const values = scope.table.describe([number]).values[0];
            return [
              `${index.row.name.replace("svc.objectstore.", "")}${index.row.attributes.length === 0 ? "" : `{${(values as unknown[]).join(",")}}`}`,
              scope.table.columns.value[number] ?? 0,
            ];
          }),
        ),
    );
  const run = async (nowMs = NOW_MS): Promise<void> => {
    const sweep = scope.sweep("objectstore");
    await feed.run({ nowMs, signal: new AbortController().signal, sweep, list: (ask) => ask() });
    sweep.commit();
  };
  return {
    run,
    rows,
    received,
    series,
    lines,
    evidence,
    close: () => s3.close(),
    refuse: (on: boolean) => void (refuse = on),
  };
}

const put = (key: string, text: string | Uint8Array): void =>
  void bucket.objects.set(key, typeof text === "string" ? Buffer.from(text) : text);
const day = "2026/11/20";
/** `2026/11/20/2026-11-20-12-00-00.ndjson`. */
function keyOf(ms: number): string {
  const text = new Date(ms).toISOString().slice(0, 19);
  return `${text.slice(0, 10).replaceAll("-", "/")}/${text.replaceAll(/[T:]/g, "-")}.ndjson`;
}
/** `2026-11-20-12-00-00.ndjson`. */
function stampOf(ms: number): string {
  return keyOf(ms).slice(11);
}
/** `2026-11-20T12:00:00.000000000Z.event`. */
function recordedAt(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, -1)}000000Z.event`;
}
const sound = Array.from({ length: 50 }, (_, at) => `{"at":${at}}\n`).join("");

describe("A feed of an object store", () => {
  it("reads new objects once, oldest first, however they are packed or wrapped, signed with its credentials", async () => {
    put(`${day}/2026-11-20-11-00-00.ndjson`, '{"a":2}\n{"a":3}\n');
    put(`${day}/10:30:00.json.gz`, gzipSync('{"logs":[{"a":1}]}'));
    put(`${day}/2026-11-20-11-30-00.ndjson.zst`, zstdCompressSync('[{"event":{"a":4}}]'));
    const { run, rows, received, series, close } = setUp();
    await run();
    expect(rows).toEqual([{ a: 1 }, { a: 2 }, { a: 3 }, { a: 4 }]);
    expect(received, "bytes after decompression").toEqual([18, 16, 19]);
    expect(series()).toMatchObject({
      objects: 3,
      records: 4,
      backlog: 0,
      gaps: 0,
      "gap.healthy": 1,
      "cursor.age": 1_800,
      "discovered.newest.age": 1_800,
      "scan.truncated": 0,
      "requests{get,success}": 3,
      "requests{list,success}": 1,
    });
    expect(
      bucket.signed.every((header) => header?.startsWith("AWS4-HMAC-SHA256 Credential=AKTEST/")),
    ).toBe(true);
    await run(NOW_MS + 60_000);
    expect(rows).toHaveLength(4);
    expect(series()["skipped{already_ingested}"]).toBe(3);
    close();
  });

  it("goes on after a restart where it was, and sees late objects within the lookback", async () => {
    put(`${day}/2026-11-20-11-50-00.ndjson`, '{"a":1}');
    const first = setUp();
    await first.run();
    put(`${day}/2026-11-20-11-10-00.ndjson`, '{"a":2}');
    put(`${day}/2026-11-20-10-40-00.ndjson`, '{"a":"too late"}');
    const second = setUp({}, first.evidence);
    await second.run(NOW_MS + 60_000);
    expect(second.rows).toEqual([{ a: 2 }]);
    expect(second.series()).toMatchObject({
      "skipped{before_cursor}": 1,
      "skipped{already_ingested}": 1,
    });
    first.close();
    second.close();
  });

  it("begins its lists anew when it has no record of when they began", async () => {
    put(`${day}/2026-11-20-11-50-00.ndjson`, '{"a":1}');
    const first = setUp();
    await first.run();
    first.close();
    const [[cursor] = [""]] = [...first.evidence.held].filter(([key]) => key.endsWith("/cursor"));
    const list = cursor.replace(/cursor$/, `scan/${day}/`);
    first.evidence.held.set(list, `${day}/2026-11-20-11-55-00.ndjson`);
    put(`${day}/2026-11-20-11-51-00.ndjson`, '{"a":2}');
    const second = setUp({}, first.evidence);
    await second.run(NOW_MS + 60_000);
    expect(second.rows).toEqual([{ a: 2 }]);
    expect(first.evidence.held.has(list)).toBe(false);
    second.close();
  });

  it("looks at days, at most fourteen, and leaves out names that it does not know or that lie ahead", async () => {
    put(`${day}/readme.txt`, "x");
    put(`${day}/2026-11-20-13-00-00.ndjson`, '{"a":1}');
    put(`${day}/2026-02-30-10-00-00.ndjson`, '{"a":1}');
    const { run, rows, series, close } = setUp({
      initialLookbackMs: 40 * 24 * HOUR_MS,
      prefix: "",
    });
    await run();
    expect(rows).toEqual([]);
    expect(bucket.asked[0]).toBe("list 2026/11/07/ after ");
    expect(bucket.asked.at(-1)).toBe("list 2026/11/20/ after ");
    expect(bucket.asked).toHaveLength(14);
    expect(series()).toMatchObject({
      "skipped{unrecognized_key}": 2,
      "skipped{future_timestamp}": 1,
      "discovered.newest.age": -1,
    });
    close();
  });

  it("takes so many objects a run and loses none, in pages and in any order of names", async () => {
    for (let index = 0; index < 23; index++) {
      const time = new Date(NOW_MS - (index + 1) * 600_000)
        .toISOString()
        .slice(0, 19)
        .replaceAll(/[T:]/g, "-");
      put(`flat/${(index * 7) % 23}-x/${time}.ndjson`, `{"n":${index}}`);
    }
    const { run, rows, series, close } = setUp({
      layout: "flat",
      prefix: "flat/",
      maxObjects: 2,
      lookbackMs: 60_000,
    });
    const truncated: number[] = [];
    for (let round = 0; round < 20; round++) {
      await run(NOW_MS + round * 60_000);
      truncated.push(series()["scan.truncated"] ?? -1);
    }
    expect(
      rows.map((row) => (row as { n: number }).n).toSorted((left, right) => left - right),
    ).toEqual(Array.from({ length: 23 }, (_, index) => index));
    expect(truncated[0]).toBe(1);
    expect(truncated).toContain(0);
    expect(series()["backlog"]).toBe(0);
    close();
  });

  it("reads a backlog of more days than it can remember the objects of, each object once, and ends", async () => {
    const minutes = 4 * 24 * 60;
    for (let minute = 0; minute < minutes; minute++)
      put(keyOf(NOW_MS - minute * 60_000), `{"n":${minute}}`);
    const options = { maxObjects: 500, initialLookbackMs: 5 * 24 * HOUR_MS };
    const evidence = memory();
    let reads = 0;
    for (let round = 0; round < 13; round++) {
      // A restart loses nothing and repeats nothing.
      const { run, rows, series, close } = setUp(options, evidence, local);
      await run(NOW_MS + round * 60_000);
      reads += rows.length;
      close();
      if (round < 11) expect(series()["discovered.newest.age"], `run ${round}`).toBe(round * 60);
      else expect(series()).toMatchObject({ backlog: 0, "scan.truncated": 0 });
    }
    expect(reads).toBe(minutes);
  });

  it("reads thousands of objects once where the names are not in the order of time", async () => {
    for (let index = 0; index < 5_900; index++)
      put(
        `${index < 5_200 ? "a" : "b"}/${keyOf(NOW_MS - index * 10_000).slice(11)}`,
        `{"n":${index}}`,
      );
    const { run, rows, series, close } = setUp(
      { layout: "flat", maxObjects: 500, initialLookbackMs: 24 * HOUR_MS },
      memory(),
      local,
    );
    for (let round = 0; round < 15; round++) await run(NOW_MS + round * 60_000);
    expect(rows).toHaveLength(5_900);
    expect(series()).toMatchObject({ backlog: 0, "scan.truncated": 0 });
    close();
  });

  it("reads objects once of which the lookback has more than it can remember", async () => {
    for (let second = 0; second < 5_400; second++)
      put(keyOf(NOW_MS - second * 1_000), `{"n":${second}}`);
    const { run, rows, lines, close } = setUp(
      { maxObjects: 3_000, lookbackMs: 3 * HOUR_MS, cycle: { ...limits, records: 3_000 } },
      memory(),
      local,
    );
    for (let round = 0; round < 4; round++) await run(NOW_MS + round * 60_000);
    expect(rows).toHaveLength(5_400);
    expect(lines).toEqual([
      expect.stringContaining(
        "more objects within the lookback than can be remembered: objects that appear late may be missed feed=flow remembered=5000",
      ),
    ]);
    close();
  });

  it("reads objects that arrive in a folder that a long pass has left behind", async () => {
    for (let minute = 0; minute < 200; minute++)
      put(`b/${stampOf(NOW_MS - 48 * HOUR_MS - minute * 60_000)}`, '{"n":"before the feed"}');
    const options = { layout: "flat", maxObjects: 5, lookbackMs: 5 * 60_000 } as const;
    const evidence = memory();
    const read: unknown[] = [];
    for (let round = 0; round < 80; round++) {
      const nowMs = NOW_MS + round * 60_000;
      if (round < 50)
        for (const folder of ["a", "b"])
          put(`${folder}/${stampOf(nowMs - 1_000)}`, `{"n":"${folder}${round}"}`);
      // A restart in the middle of a pass loses nothing either.
      const { run, rows, close } = setUp(options, evidence, local);
      await run(nowMs);
      read.push(...rows);
      close();
    }
    expect(read.map((row) => (row as { n: string }).n).toSorted()).toEqual(
      Array.from({ length: 100 }, (_, at) => `${at < 50 ? "a" : "b"}${at % 50}`).toSorted(),
    );
  });

  it("passes over the old recordings of a recorder at once", async () => {
    for (const recorder of ["nA", "nB", "nC"])
      for (let minute = 0; minute < 1_000; minute++)
        put(`${recorder}/${recordedAt(NOW_MS - 48 * HOUR_MS - minute * 60_000)}`, "{}");
    const { run, rows, series, close } = setUp(
      { layout: "recorder", maxObjects: 5 },
      memory(),
      local,
    );
    for (let round = 0; round < 8; round++) {
      for (const recorder of ["nA", "nB", "nC"])
        put(
          `${recorder}/${recordedAt(NOW_MS + round * 60_000 - 1_000)}`,
          `{"n":"${recorder}${round}"}`,
        );
      await run(NOW_MS + round * 60_000);
    }
    for (let round = 8; round < 16; round++) await run(NOW_MS + round * 60_000);
    expect(rows.map((row) => (row as { n: string }).n).toSorted()).toEqual(
      ["nA", "nB", "nC"].flatMap((recorder) =>
        Array.from({ length: 8 }, (_, round) => `${recorder}${round}`),
      ),
    );
    expect(series()["skipped{before_cursor}"], "listed keys").toBeLessThan(400);
    close();
  });

  it("keeps what it could not read as a gap, tries it again with growing waits, and heals", async () => {
    const key = `${day}/2026-11-20-11-00-00.ndjson`;
    put(key, '{"a":1}');
    bucket.faults.set(key, refusal(403, "AccessDenied"));
    const { run, rows, series, lines, close } = setUp();
    await run();
    expect(series()).toMatchObject({
      gaps: 1,
      "gap.healthy": 0,
      "skipped{read_error}": 1,
      backlog: 0,
    });
    expect(series()["objects"]).toBeUndefined();
    await run(NOW_MS + 30_000);
    expect(bucket.asked.filter((asked) => asked === `get ${key}`)).toHaveLength(1);
    await run(NOW_MS + 60_000);
    expect(series()).toMatchObject({ retries: 1, "gap.oldest.age": 60 });
    bucket.faults.clear();
    await run(NOW_MS + 120_000);
    expect(rows).toEqual([]);
    await run(NOW_MS + 180_000);
    expect(rows).toEqual([{ a: 1 }]);
    expect(series()).toMatchObject({ gaps: 0, "gap.healthy": 1, objects: 1 });
    expect(lines.join("\n")).not.toContain("very-secret");
    close();
  });

  it.each([
    ["damaged bytes", zstdCompressSync("x".repeat(10_000)).fill(7, 10), "decode_error", undefined],
    ["no JSON", "{broken", "decode_error", undefined],
    [
      "more bytes than allowed",
      zstdCompressSync(`"${"x".repeat(2_000_000)}"`),
      undefined,
      "object_bytes",
    ],
    [
      "more records than allowed",
      zstdCompressSync("{}\n".repeat(1_001)),
      undefined,
      "object_records",
    ],
  ])("sets an object with %s aside for a day", async (_what, bytes, reason, limit) => {
    put(`${day}/2026-11-20-11-00-00.ndjson${typeof bytes === "string" ? "" : ".zst"}`, bytes);
    const { run, rows, series, close } = setUp();
    await run();
    await run(NOW_MS + 24 * HOUR_MS - 1);
    expect(rows).toEqual([]);
    expect(series()).toMatchObject({
      gaps: 1,
      "requests{get,error}": 1,
      ...(reason === undefined ? {} : { [`skipped{${reason}}`]: 1 }),
      ...(limit === undefined ? {} : { [`expansion.limit_failures{${limit}}`]: 1 }),
    });
    await run(NOW_MS + 24 * HOUR_MS);
    expect(series()).toMatchObject({ gaps: 1, retries: 1, "requests{get,error}": 2 });
    close();
  });

  it("tries what it could not read again in time when the clock was ahead meanwhile", async () => {
    const key = `${day}/2026-11-20-11-00-00.ndjson`;
    put(key, '{"a":1}');
    bucket.faults.set(key, refusal(403, "AccessDenied"));
    const { run, rows, close } = setUp();
    await run(NOW_MS + 3 * HOUR_MS);
    bucket.faults.clear();
    await run(NOW_MS + 60_000);
    expect(rows).toEqual([{ a: 1 }]);
    close();
  });

  it("reads an object that was set aside once its limit is raised", async () => {
    put(`${day}/2026-11-20-11-00-00.ndjson`, '{"a":1}\n{"a":2}\n');
    const first = setUp({ object: { ...limits, records: 1 } });
    await first.run();
    expect(first.series()).toMatchObject({ gaps: 1, "gap.healthy": 0 });
    first.close();
    const second = setUp({}, first.evidence);
    await second.run(NOW_MS + 60_000);
    expect(second.rows).toEqual([{ a: 1 }, { a: 2 }]);
    expect(second.series()).toMatchObject({ gaps: 0, "gap.healthy": 1, "gap.oldest.age": 0 });
    second.close();
  });

  it("reads an object that was set aside when another one replaces it, and forgets one that is gone", async () => {
    put(`${day}/2026-11-20-11-00-00.ndjson`, "{broken");
    put(`${day}/2026-11-20-11-10-00.ndjson`, "{broken");
    const { run, rows, series, close } = setUp();
    await run();
    expect(series()).toMatchObject({ gaps: 2 });
    put(`${day}/2026-11-20-11-00-00.ndjson`, '{"a":1}');
    bucket.objects.delete(`${day}/2026-11-20-11-10-00.ndjson`);
    await run(NOW_MS + 24 * HOUR_MS);
    expect(rows).toEqual([{ a: 1 }]);
    expect(series()).toMatchObject({ gaps: 0, "gap.healthy": 1, "gap.oldest.age": 0 });
    close();
  });

  it("reads no new objects while a thousand cannot be read, says so once, and goes on when they are gone", async () => {
    for (let second = 0; second < 1_000; second++)
      put(keyOf(NOW_MS - HOUR_MS + second * 1_000), "{broken");
    const late = keyOf(NOW_MS - 2 * HOUR_MS);
    const { run, rows, series, lines, close } = setUp(
      { maxObjects: 500, lookbackMs: 3 * HOUR_MS },
      memory(),
      local,
    );
    await run();
    await run(NOW_MS + 60_000);
    expect(series()).toMatchObject({ gaps: 1_000 });
    put(late, '{"a":1}');
    const before = lines.length;
    await run(NOW_MS + 120_000);
    await run(NOW_MS + 180_000);
    expect([rows, series()["backlog"]]).toEqual([[], 1]);
    expect(lines.slice(before)).toEqual([
      expect.stringContaining(
        "too many objects of a feed cannot be read: it reads no new ones until fewer are left feed=flow unreadable=1000",
      ),
    ]);
    for (const key of bucket.objects.keys()) if (key !== late) bucket.objects.delete(key);
    for (let round = 0; round < 4; round++) await run(NOW_MS + 24 * HOUR_MS + (round + 1) * 60_000);
    expect(rows).toEqual([{ a: 1 }]);
    expect(series()).toMatchObject({ gaps: 0, backlog: 0 });
    close();
  });

  it("tries one of many objects set aside before new ones and the others after them", async () => {
    for (let minute = 10; minute < 20; minute++)
      put(`${day}/2026-11-20-11-${minute}-00.ndjson`, "{");
    const { run, rows, series, close } = setUp();
    await run();
    expect(series()).toMatchObject({ gaps: 10 });
    for (let minute = 10; minute < 19; minute++)
      put(keyOf(NOW_MS + 24 * HOUR_MS - minute * 60_000), "{}");
    await run(NOW_MS + 24 * HOUR_MS);
    expect(rows).toHaveLength(9);
    expect(series()).toMatchObject({ retries: 1, backlog: 0, "pending.oldest.age": 0 });
    await run(NOW_MS + 24 * HOUR_MS + 60_000);
    expect(series()).toMatchObject({ gaps: 10, retries: 10 });
    close();
  });

  it.each([
    [
      "gz",
      "no gzip at all",
      Buffer.from("plain text"),
      "it is not valid gzip: incorrect header check (Z_DATA_ERROR)",
    ],
    [
      "gz",
      "gzip that ends early",
      gzipSync(sound).subarray(0, 40),
      "it is not valid gzip: unexpected end of file (Z_BUF_ERROR)",
    ],
    [
      "gz",
      "gzip with a wrong checksum",
      Buffer.concat([gzipSync(sound).subarray(0, -8), Buffer.alloc(8)]),
      "it is not valid gzip: incorrect data check (Z_DATA_ERROR)",
    ],
    [
      "gz",
      "nothing",
      Buffer.alloc(0),
      "it is not valid gzip: unexpected end of file (Z_BUF_ERROR)",
    ],
    [
      "zst",
      "no zstd at all",
      Buffer.from("plain text"),
      "it is not valid zstd: Unknown frame descriptor (ZSTD_error_prefix_unknown)",
    ],
  ])(
    "names an object in .%s with %s and its fault in the log, once",
    async (ending, _what, bytes, why) => {
      const key = `${day}/2026-11-20-11-00-00.ndjson.${ending}`;
      put(key, bytes);
      const { run, lines, close } = setUp();
      await run();
      await run(NOW_MS + HOUR_MS);
      await run(NOW_MS + 24 * HOUR_MS);
      expect(lines).toHaveLength(1);
      expect(lines[0]).toContain(
        `an object cannot be read and is skipped feed=flow key=${key} class=decode_error why="${why}"`,
      );
      close();
    },
  );

  it("names both of two objects that are set aside in one run for different reasons", async () => {
    put(`${day}/2026-11-20-11-00-00.ndjson`, "{");
    put(`${day}/2026-11-20-11-10-00.ndjson`, "{}\n{}\n");
    const { run, lines, series, close } = setUp({ object: { ...limits, records: 1 } });
    await run();
    expect(lines.map((line) => /class=(\S+)/.exec(line)?.[1])).toEqual([
      "decode_error",
      "object_records",
    ]);
    expect(series()).toMatchObject({ gaps: 2 });
    close();
  });

  it("defers what a run has no room for", async () => {
    for (const minute of ["00", "10", "20"])
      put(`${day}/2026-11-20-11-${minute}-00.ndjson`, `{"a":"${"x".repeat(400)}"}`);
    const { run, rows, series, close } = setUp({ cycle: { ...limits, decompressedBytes: 1_000 } });
    await run();
    expect(rows).toHaveLength(2);
    expect(series()).toMatchObject({
      backlog: 1,
      "expansion.limit_failures{cycle_bytes}": 1,
      "skipped{per_cycle_budget}": 1,
      "pending.oldest.age": 2_400,
    });
    await run(NOW_MS + 60_000);
    expect(rows).toHaveLength(3);
    close();
  });

  it("takes an object of which no row counts for a gap, with a line in the log, and one that is deleted meanwhile for done", async () => {
    put(`${day}/2026-11-20-11-00-00.ndjson`, '{"a":1}\n{"a":2}');
    const { run, series, lines, refuse, rows, close } = setUp();
    refuse(true);
    await run();
    expect(series()).toMatchObject({ gaps: 1, "skipped{undecodable_object}": 1 });
    expect(lines).toEqual([
      expect.stringContaining(
        `every record of an object was refused; it is tried again later feed=flow key=${day}/2026-11-20-11-00-00.ndjson class=undecodable_object`,
      ),
    ]);
    refuse(false);
    await run(NOW_MS + 60_000);
    expect(rows).toHaveLength(2);
    put(`${day}/2026-11-20-11-20-00.ndjson`, '{"a":3}');
    bucket.faults.set(`${day}/2026-11-20-11-20-00.ndjson`, refusal(404, "NoSuchKey"));
    await run(NOW_MS + 120_000);
    expect(series()).toMatchObject({ gaps: 0 });
    close();
  });

  it("gives up a list that is never answered and an object that stalls, with which it goes on", async () => {
    const key = `${day}/2026-11-20-11-00-00.ndjson`;
    put(key, '{"a":1}');
    put(`${day}/2026-11-20-11-10-00.ndjson`, '{"a":2}');
    const { run, rows, series, lines, close } = setUp({}, memory(), (options) =>
      createBucket(options, 300),
    );
    bucket.faults.set("list", () => undefined);
    await expect(run()).rejects.toThrow(/no complete response in time: list: TimeoutError/);
    bucket.faults.delete("list");
    bucket.faults.set(
      key,
      (response) => void response.writeHead(200, { "content-length": 7 }).write('{"a'),
    );
    await run();
    expect(rows).toEqual([{ a: 2 }]);
    expect(series()).toMatchObject({ gaps: 1, "skipped{read_error}": 1 });
    expect(lines.join("\n")).toContain(
      `an object could not be read; it is retried later feed=flow key=${key}`,
    );
    close();
  });

  it("fails the run when the bucket cannot be listed, saying why and nothing secret", async () => {
    const { run, close } = setUp();
    bucket.faults.set("list", refusal(403, "InvalidAccessKeyId"));
    await expect(run()).rejects.toThrow(
      /lacks the permission \(status 403\): list: InvalidAccessKeyId/,
    );
    bucket.faults.set(
      "list",
      (response) => void response.writeHead(200, { "content-type": "text/html" }).end("<html>"),
    );
    await expect(run()).rejects.toThrow();
    close();
  });
});
