import { deflateSync } from "node:zlib";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { readFiles } from "../../../src/dedup/archives/read-files.ts";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { createLog } from "../../../src/kernel/base/log.ts";
import { createPool } from "../../../src/kernel/pool/pool.ts";
import type { Pool, RunOptions } from "../../../src/kernel/pool/types.ts";
import { formats } from "../../../workers/extract/formats.ts";
import { docx, pdf } from "../../support/documents.ts";
import { createInlinePool } from "../inline-pool.ts";
import { complaints, documentsOf, folderWith, readOptions, withText } from "./reading.ts";
import type { ReadItem } from "./reading.ts";

async function readAll(
  pool: Pool,
  files: Readonly<Record<string, string | Uint8Array>>,
): Promise<ReadItem[]> {
  const folder = folderWith(files);
  const read = Object.keys(files).map((ref) => ({ path: join(folder, ref), ref }));
  return (await readFiles(pool, read, readOptions())).items.flat().map(withText);
}

function threads(heapMb?: number): Pool {
  const pool = createPool({
    threads: 1,
    ...(heapMb === undefined ? {} : { heapMb }),
    clock: systemClock,
    log: createLog({ level: "error", format: "text", write: () => undefined, now: () => 0 }),
  });
  onTestFinished(() => pool.close());
  return pool;
}

/** The pool with every deadline but the batch's made short. */
function hurried(pool: Pool, deadlineMs: number): Pool {
  const shorten = (options: RunOptions): RunOptions => ({
    ...options,
    ...(options.deadlineMs === 30_000 ? {} : { deadlineMs }),
  });
  return {
    run: (task, input, options) => pool.run(task, input, shorten(options)),
    map: (task, inputs, options) => pool.map(task, inputs, { ...options, ...shorten(options) }),
    status: () => pool.status(),
    close: () => pool.close(),
  };
}

describe("files that are read on the pool", () => {
  it("share a task while they are cheap, and are alone otherwise", async () => {
    const pool = createInlinePool();
    const items = await readAll(pool, {
      "a.txt": "a",
      "b.docx": docx(["b"]),
      "c.md": "c",
      "d.pdf": pdf(["d"]),
    });
    expect(documentsOf(items).map(({ ref, text }) => [ref, text.trim()])).toEqual([
      ["a.txt", "a"],
      ["b.docx", "b"],
      ["c.md", "c"],
      ["d.pdf", "d"],
    ]);
    expect(pool.runs).toEqual({ extract: 3 });
  });

  it("are given the time of their kind, and one that hangs is skipped while the others are read", async () => {
    const pool = threads();
    const page = pdf([
      {
        dictionary: "/Filter /FlateDecode",
        stream: deflateSync(Buffer.from("q 1 0 0 1 0 0 cm ".repeat(3_000_000))),
      },
    ]);
    const items = await readAll(hurried(pool, 700), {
      "a.txt": "first",
      "slow.pdf": page,
      "z.txt": "last",
    });
    expect(documentsOf(items).map(({ text }) => text)).toEqual(["first", "last"]);
    expect(complaints(items)).toEqual(["slow.pdf: took too long: was given up after 60 s"]);
    expect(items[1]).toMatchObject({ kind: "skipped", failure: true, hides: "below" });
    expect(documentsOf(await readAll(pool, { "b.pdf": pdf(["next"]) }))[0]?.text).toBe("next");
  });

  it("have deadlines as shipped that a person would wait for", () => {
    for (const { deadlineMs, limitBytes } of Object.values(formats)) {
      expect(deadlineMs).toBeGreaterThanOrEqual(30_000);
      expect(deadlineMs).toBeLessThanOrEqual(120_000);
      expect(limitBytes).toBe(64 * 1024 * 1024);
    }
  });

  it("stop at once when the reader leaves", async () => {
    const stop = new AbortController();
    const folder = folderWith({ "a.pdf": pdf(["a"]) });
    const reading = readFiles(
      createInlinePool(() => (stop.abort(new Error("enough")), false)),
      [{ path: join(folder, "a.pdf"), ref: "a.pdf" }],
      readOptions({ signal: stop.signal }),
    );
    await expect(reading).rejects.toThrow("enough");
  });
});
