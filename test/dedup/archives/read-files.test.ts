import { deflateSync } from "node:zlib";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readFiles } from "../../../src/dedup/archives/read-files.ts";
import { StewardError } from "../../../src/kernel/base/errors.ts";
import type { Pool, RunOptions } from "../../../src/kernel/pool/types.ts";
import { formats } from "../../../workers/extract/formats.ts";
import type { ExtractInput } from "../../../workers/extract/tasks.ts";
import { docx, mail, pdf } from "../../support/documents.ts";
import { createInlinePool, type InlinePool } from "../inline-pool.ts";
import { complaints, documentsOf, folderWith, readOptions, realPool, withText } from "./reading.ts";
import type { ReadItem } from "./reading.ts";

async function readAll(
  pool: Pool,
  files: Readonly<Record<string, string | Uint8Array>>,
): Promise<ReadItem[]> {
  const folder = folderWith(files);
  const read = Object.keys(files).map((ref) => ({ path: join(folder, ref), ref }));
  return (await readFiles(pool, read, readOptions())).items.flat().map(withText);
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

/** A pool that fails at each file that is read alone with those within it. */
function failingWhole(error: StewardError): InlinePool {
  return createInlinePool((input) => {
    const { alone, leaveOut } = input as ExtractInput;
    return alone && leaveOut === undefined && error;
  });
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
    const pool = realPool();
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

  it.each([
    ["deadline", "took too long", "took longer than 120 s"],
    ["exhausted", "too much memory", "need more memory than one file may take"],
    ["internal", "unreadable", "ended the worker that read them"],
  ] as const)(
    "that hold others are read without those when they fail with %s",
    async (code, reason, why) => {
      const pool = failingWhole(new StewardError(code, "as told"));
      const items = await readAll(pool, {
        "m.eml": mail({ Subject: "s" }, "body", [["n.txt", Buffer.from("note")]]),
        "b.docx": docx(["b"]),
      });
      expect(documentsOf(items).map(({ ref }) => ref)).toEqual(["m.eml"]);
      expect(complaints(items)).toEqual([
        `m.eml/n.txt: ${reason}: was left out: its file and those within it ${why}`,
        expect.stringMatching(`^b.docx: ${reason}: `),
      ]);
      // The batch, the mail twice, and the other file.
      expect(pool.runs).toEqual({ extract: 4 });
    },
  );

  it("are not tried again where no process can be started", async () => {
    const pool = failingWhole(new StewardError("not_ready", "as told"));
    const items = await readAll(pool, { "m.eml": mail({ Subject: "s" }, "body") });
    expect(complaints(items)).toEqual([
      "m.eml: no process: was not read: no process could be started for it",
    ]);
    // The batch, and the mail once.
    expect(pool.runs).toEqual({ extract: 2 });
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
