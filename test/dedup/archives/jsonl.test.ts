import { execFileSync } from "node:child_process";
import { hash } from "node:crypto";
import { appendFileSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { constants, gzipSync, zstdCompressSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { Archive } from "../../../src/dedup/archives/archive.ts";
import { createJsonlArchive } from "../../../src/dedup/archives/jsonl.ts";
import type { LinesInput } from "../../../workers/extract/tasks.ts";
import { createInlinePool } from "../inline-pool.ts";
import { complaints, documentsOf, folderWith, readAll, refsOf, skippedOf } from "./reading.ts";

const never = new AbortController().signal;

function archiveOf(bytes: string | Uint8Array, name = "lines.jsonl"): Archive {
  return createJsonlArchive(
    { pool: createInlinePool() },
    { name: "lines", source: { path: join(folderWith({ [name]: bytes }), name) } },
  );
}

describe("JSON Lines as an archive", () => {
  it("gives a document a line, with every field in both spellings", async () => {
    const items = await readAll(
      archiveOf(
        [
          JSON.stringify({
            id: "a",
            content: "text",
            title: " A\n title ",
            correspondent: "X",
            documentType: "bill",
            tags: ["t"],
            createdDate: "2026-01-01",
            addedDate: "2026-01-02T00:00:00+01:00",
            modifiedDate: "m",
            more: 1,
          }),
          JSON.stringify({
            id: 7,
            content: "seven",
            document_type: "letter",
            created: "2025",
            title: null,
            tags: null,
          }),
        ].join("\n"),
      ),
    );
    for (const document of documentsOf(items)) expect(document.location?.form).toBe("line");
    expect(documentsOf(items).map((one) => ({ ...one, location: undefined }))).toEqual([
      {
        kind: "document",
        ref: "a",
        line: 1,
        location: undefined,
        version: expect.any(String) as string,
        title: "A title",
        text: "text",
        correspondent: "X",
        documentType: "bill",
        tags: ["t"],
        createdDate: "2026-01-01",
        addedDate: "2026-01-02T00:00:00+01:00",
        modifiedDate: "m",
        notes: [],
      },
      {
        kind: "document",
        ref: "7",
        line: 2,
        location: undefined,
        version: expect.any(String) as string,
        title: "7",
        text: "seven",
        documentType: "letter",
        createdDate: "2025",
        tags: [],
        notes: [],
      },
    ]);
  });

  it("names broken lines by number, says what is wrong, and goes on", async () => {
    const lines: (string | Uint8Array)[] = [
      '\ufeff{"id":"first","content":"with a mark and CRLF"}\r',
      "",
      '{"id":"cut","content":"x',
      "[1]",
      "null",
      '{"content":"x"}',
      '{"id":"x"}',
      '{"id":"x","content":5}',
      '{"id":true,"content":"x"}',
      '{"id":"","content":"x"}',
      '{"id":12345678901234567890,"content":"x"}',
      '{"id":"x","content":"x","tags":"t"}',
      '{"id":"x","content":"x","title":[]}',
      Buffer.from('{"id":"l","content":"caf\xe9"}', "latin1"),
      `{"id":"${"i".repeat(2_000)}","content":"x"}`,
      '{"id":"first","content":"again"}',
      '{"id":"last","content":"without line end"}',
    ];
    const bytes = Buffer.concat(
      lines.flatMap((line, at) =>
        at === 0 ? [Buffer.from(line)] : [Buffer.from("\n"), Buffer.from(line)],
      ),
    );
    const items = await readAll(archiveOf(bytes));
    expect(refsOf(items)).toEqual(["first", "6", "last"]);
    expect(complaints(items)).toEqual([
      expect.stringMatching(
        /^line 3: broken line: is not valid JSON: Unterminated string/,
      ) as string,
      "line 4: broken line: is not a JSON object but a list",
      "line 5: broken line: is not a JSON object but null",
      "line 7: broken line: has no content and no text",
      "line 8: broken line: has content that is not text but a number",
      "line 9: broken line: has an id that is neither text nor number but a boolean",
      "line 10: broken line: has an empty id",
      "line 11: broken line: has an id too large for a number; write it as text",
      "line 12: broken line: has tags that are not a list but a string",
      "line 13: broken line: has title that is not text but a list",
      "line 14: broken line: is not valid UTF-8",
      "line 15: broken line: has an id that cannot be stored: too long, or with invalid characters",
      'line 16: equal id: has the id "first" of line 1, which counts',
    ]);
    expect(skippedOf(items).every(({ failure }) => failure)).toBe(true);
  });

  it("parses lines of any length on the pool, with the same words about what is wrong", async () => {
    const pad = "word ".repeat(120_000);
    const pool = createInlinePool();
    const path = join(
      folderWith({
        "l.jsonl": [
          JSON.stringify({ id: "big", content: pad, title: "T" }),
          `{"id":"b","content":"${pad}`,
          JSON.stringify([pad]),
          JSON.stringify({ id: "small", content: "x" }),
        ].join("\n"),
      }),
      "l.jsonl",
    );
    const items = await readAll(createJsonlArchive({ pool }, { name: "lines", source: { path } }), {
      force: true,
    });
    expect(Object.keys(pool.runs)).toEqual(["read-lines"]);
    expect(
      documentsOf(items).map(({ ref, title, text, truncated, location }) => [
        ref,
        title,
        text.length,
        truncated,
        location === undefined,
      ]),
    ).toEqual([
      ["big", "T", 500_000, true, true],
      ["small", "small", 1, undefined, false],
    ]);
    expect(complaints(items)).toEqual([
      expect.stringMatching(/^line 2: broken line: is not valid JSON: Unterminated/) as string,
      "line 3: broken line: is not a JSON object but a list",
    ]);
  });

  it("goes on around a line that ends its thread, and gives the others", async () => {
    const lines = Array.from({ length: 20 }, (_, at) =>
      JSON.stringify({ id: `${at}`, content: at === 7 ? "deadly" : "harmless" }),
    );
    const path = join(folderWith({ "l.jsonl": lines.join("\n") }), "l.jsonl");
    const pool = createInlinePool((input) =>
      Buffer.from((input as LinesInput).bytes).includes("deadly"),
    );
    const archive = createJsonlArchive({ pool }, { name: "lines", source: { path } });
    for (const force of [false, true]) {
      const items = await readAll(archive, { force });
      expect(refsOf(items)).toEqual(lines.map((_, at) => `${at}`).filter((id) => id !== "7"));
      expect(complaints(items)).toEqual(["line 8: unreadable: ended the worker that read it"]);
    }
  });

  it("skips a line over 64 MiB with bounded memory", async () => {
    const chunk = Buffer.alloc(1024 * 1024, "x");
    const stream = Readable.from(
      (function* () {
        yield Buffer.from('{"id":"a","content":"1"}\n{"id":"b","content":"');
        for (let at = 0; at < 70; at++) yield chunk;
        yield Buffer.from('"}\n{"id":"c","content":"3"}');
      })(),
    );
    const before = process.memoryUsage().arrayBuffers;
    const items = await readAll(
      createJsonlArchive({ pool: createInlinePool() }, { name: "stdin", source: { stream } }),
    );
    expect(refsOf(items)).toEqual(["a", "c"]);
    expect(complaints(items)).toEqual(["line 2: too large: is longer than 64 MiB"]);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(80 * 1024 * 1024);
  });

  it("leaves a line unread whose version is known, unless forced", async () => {
    const archive = archiveOf('{"id":"a","content":"1"}\n{"id":"b","content":"2"}\n');
    const versions = new Map(
      documentsOf(await readAll(archive)).map(({ ref, version }) => [ref, version]),
    );
    const known = (ref: string, version: string): boolean =>
      ref === "a" && versions.get(ref) === version;
    expect((await readAll(archive, { known })).map(({ kind }) => kind)).toEqual([
      "unchanged",
      "document",
    ]);
    expect((await readAll(archive, { known, force: true })).map(({ kind }) => kind)).toEqual([
      "document",
      "document",
    ]);
  });

  it("reads a known line again when its text is in another field by now", async () => {
    type Known = (ref: string, version: string) => boolean;
    const line = '{"id":"a","content":"1","body":"2","note":"3"}\n';
    const read = async (text: string | undefined, known: Known = () => false) => {
      const path = join(folderWith({ lines: line }), "lines");
      const archive = createJsonlArchive(
        { pool: createInlinePool() },
        { name: "lines", source: { path }, fields: { text } },
      );
      return await readAll(archive, { known });
    };
    const [before] = documentsOf(await read(undefined));
    const known = (_ref: string, version: string): boolean => version === before?.version;
    expect(before?.version).toBe(hash("sha256", line.trimEnd()));
    expect(await read(undefined, known)).toMatchObject([{ kind: "unchanged" }]);
    expect(await read("body", known)).toMatchObject([{ kind: "document", text: "2" }]);
    const versions = await Promise.all(
      [undefined, "body", "note"].map(async (text) => documentsOf(await read(text))[0]?.version),
    );
    expect(new Set(versions).size).toBe(3);
  });

  const CHANGED = "lines: changed: was changed while it was read, so that lines may be missing";

  it.each([
    ["is written anew", (path: string) => writeFileSync(path, '{"id":"c","content":"3"}\n')],
    ["grows", (path: string) => appendFileSync(path, '{"id":"c","content":"3"}\n')],
    ["is cut off", (path: string) => truncateSync(path, 5)],
    [
      "is replaced",
      (path: string) => {
        writeFileSync(`${path}.new`, '{"id":"c","content":"3"}\n');
        renameSync(`${path}.new`, path);
      },
    ],
    ["is removed", (path: string) => rmSync(path)],
  ])(
    "says when its file %s while it is read, and may hide any document then",
    async (_, change) => {
      const path = join(folderWith({ "a.jsonl": '{"id":"a","content":"1"}\n' }), "a.jsonl");
      const archive = createJsonlArchive(
        { pool: createInlinePool() },
        { name: "lines", source: { path } },
      );
      const known = (): boolean => (change(path), false);
      const items = await readAll(archive, { known });
      expect([refsOf(items), complaints(items)]).toEqual([["a"], [CHANGED]]);
      expect(skippedOf(items)[0]).toMatchObject({ hides: "any", failure: true });
    },
  );

  it("says nothing of a file that is as it was, or that is no file", async () => {
    const text = '{"id":"a","content":"1"}\n';
    expect(complaints(await readAll(archiveOf(text)))).toEqual([]);
    const stream = Readable.from([Buffer.from(text)]);
    const pool = createInlinePool();
    const archive = createJsonlArchive({ pool }, { name: "stdin", source: { stream } });
    expect(complaints(await readAll(archive))).toEqual([]);
  });

  it("unpacks .jsonl.gz and says when it is damaged", async () => {
    const packed = gzipSync('{"id":"a","content":"1"}\n');
    expect(refsOf(await readAll(archiveOf(packed, "l.jsonl.gz")))).toEqual(["a"]);
    await expect(readAll(archiveOf(packed.subarray(0, 25), "l.jsonl.gz"))).rejects.toMatchObject({
      code: "upstream",
      message: "archive lines: cannot be unpacked: Z_BUF_ERROR",
    });
  });

  it("fails when the file is not there or is a folder", async () => {
    const path = join(folderWith({}), "none.jsonl");
    const archive = createJsonlArchive(
      { pool: createInlinePool() },
      { name: "lines", source: { path } },
    );
    await expect(archive.check(never)).rejects.toMatchObject({ code: "upstream", rule: "ENOENT" });
    await expect(readAll(archive)).rejects.toMatchObject({ code: "upstream" });
    const folder = createJsonlArchive(
      { pool: createInlinePool() },
      { name: "lines", source: { path: folderWith({}) } },
    );
    await expect(folder.check(never)).rejects.toMatchObject({ code: "upstream", rule: "EISDIR" });
  });

  it("stops reading a stream that says nothing when it is cancelled", async () => {
    const stop = new AbortController();
    const reading = readAll(
      createJsonlArchive(
        { pool: createInlinePool() },
        { name: "stdin", source: { stream: new Readable({ read: () => undefined }) } },
      ),
      { signal: stop.signal },
    );
    setImmediate(() => stop.abort(new Error("enough")));
    await expect(reading).rejects.toThrow("enough");
  });

  it("reads the text of Hugging Face exports, with the number of the line for an id", async () => {
    const lines = ['{"text":"one","meta":{}}', "", '{"content":"two","text":"other"}'];
    const items = await readAll(archiveOf(lines.join("\n")));
    expect(documentsOf(items).map(({ ref, text }) => [ref, text])).toEqual([
      ["1", "one"],
      ["3", "two"],
    ]);
  });

  it("takes id and text from fields of other names, and then from no others", async () => {
    const lines = [
      '{"url":"u1","body":"one","id":"x","content":"y"}',
      '{"id":"x","body":"two"}',
      '{"url":"u3","content":"three"}',
    ];
    const path = join(folderWith({ "a.jsonl": lines.join("\n") }), "a.jsonl");
    const fields = { id: "url", text: "body" };
    const items = await readAll(
      createJsonlArchive({ pool: createInlinePool() }, { name: "lines", source: { path }, fields }),
    );
    expect(documentsOf(items).map(({ ref, text }) => [ref, text])).toEqual([["u1", "one"]]);
    expect(complaints(items)).toEqual([
      "line 2: broken line: has no url",
      "line 3: broken line: has no body",
    ]);
  });

  it("cuts the text of a large line whatever its field is called", async () => {
    const line = JSON.stringify({ key: "k", body: "word ".repeat(200_000) });
    const path = join(folderWith({ "a.jsonl": line }), "a.jsonl");
    const pool = createInlinePool();
    const archive = createJsonlArchive(
      { pool },
      { name: "lines", source: { path }, fields: { id: "key", text: "body" } },
    );
    const [document] = documentsOf(await readAll(archive));
    expect([document?.ref, document?.text.length]).toEqual(["k", 500_000]);
  });

  // More than two blocks of bzip2.
  const rows = Array.from({ length: 2_000 }, (_, at) =>
    JSON.stringify({ id: `${at}`, content: `${(at * 7919) % 104_729} `.repeat(200) }),
  );
  // Without its checksum, zstd takes damaged bytes for others.
  const zstd = (bytes: Buffer): Buffer =>
    zstdCompressSync(bytes, { params: { [constants.ZSTD_c_checksumFlag]: 1 } });
  const packings: Record<string, (bytes: Buffer) => Uint8Array> = {
    gzip: gzipSync,
    zstd,
    "zstd in several frames": (bytes) =>
      Buffer.concat([bytes.subarray(0, 777_777), bytes.subarray(777_777)].map(zstd)),
    bzip2: (input) => execFileSync("bzip2", { input, maxBuffer: 2 ** 26 }),
    "bzip2 in several streams": (bytes) =>
      Buffer.concat(
        [bytes.subarray(0, 777_777), bytes.subarray(777_777)].map((input) =>
          execFileSync("bzip2", { input, maxBuffer: 2 ** 26 }),
        ),
      ),
  };

  it.each(Object.entries(packings))("is unpacked when it is %s", async (_, pack) => {
    const packed = pack(Buffer.from(rows.join("\n")));
    const items = await readAll(archiveOf(packed, "lines"));
    expect(refsOf(items)).toEqual(rows.map((_row, at) => String(at)));
    for (const bytes of [packed.subarray(0, -20), packed.subarray(0, packed.length >>> 1)])
      await expect(readAll(archiveOf(bytes, "cut"))).rejects.toMatchObject({
        code: "upstream",
        message: expect.stringContaining("cannot be unpacked") as string,
      });
    const wrong = Buffer.from(packed);
    const middle = packed.length >>> 1;
    wrong.fill(0x55, middle, middle + 64);
    await expect(readAll(archiveOf(wrong, "wrong"))).rejects.toMatchObject({ code: "upstream" });
  });

  it.each(["bzip2", "bzip2 in several streams"])(
    "%s is damaged where a block does not begin at its place: none is passed over",
    async (packing) => {
      const packed = Buffer.from(packings[packing]?.(Buffer.from(rows.join("\n"))) ?? "");
      const streams = [...packed.toString("latin1").matchAll(/BZh91AY&SY/g)].map(
        ({ index }) => index,
      );
      expect(streams.length).toBe(packing === "bzip2" ? 1 : 2);
      for (const at of streams) {
        const wrong = Buffer.from(packed);
        wrong[at + 5] = (wrong[at + 5] ?? 0) ^ 1;
        await expect(readAll(archiveOf(wrong, "wrong"))).rejects.toMatchObject({
          code: "upstream",
          message: expect.stringContaining("cannot be unpacked") as string,
        });
      }
    },
  );
});
