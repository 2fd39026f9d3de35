import { appendFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import type { ArchiveDocument } from "../../../src/dedup/archives/archive.ts";
import { openPath } from "../../../src/dedup/archives/open.ts";
import { writeLocation } from "../../../workers/text/location.ts";
import { storedText } from "../../../workers/text/compress.ts";
import { normalise } from "../../../workers/text/normalise.ts";
import { createInlinePool } from "../../dedup/inline-pool.ts";
import { readOptions, withText } from "../../dedup/archives/reading.ts";
import { temporaryFolder } from "../../kernel/state/fixtures/tables.ts";
import { textHash } from "./identity.ts";

/** A text handed to a task, as a string. */
const decoded = (bytes: Uint8Array): string => Buffer.from(storedText(bytes)).toString("utf8");

const pool = createInlinePool();

async function read(path: string): Promise<ArchiveDocument[]> {
  const archive = await openPath({ pool }, path, Readable.from([]));
  const documents: ArchiveDocument[] = [];
  const signal = new AbortController().signal;
  for await (const { items } of archive.read(
    readOptions({ known: () => false, force: true, signal }),
  ))
    for (const item of items.map(withText)) if (item.kind === "document") documents.push(item);
  return documents;
}

/** The text as a task reads it again. */
function again({ location, text }: ArchiveDocument): string | undefined {
  if (!location) return undefined;
  const identity = Buffer.from(textHash(normalise(text))).toString("hex");
  return decoded(writeLocation({ ...location, identity }));
}

describe("the location of a text", () => {
  const line = (id: number, content: string): string => JSON.stringify({ content, id });
  const lines = [line(1, "one\ttwo"), line(2, 'drei "vier" ü 😀'), line(3, "5\r\n6")];

  for (const [kind, bytes] of [
    ["lines", `${lines.join("\n")}\n`],
    ["lines that end with CRLF and the last one with nothing", lines.join("\r\n")],
    ["lines behind a byte order mark, with an empty one", `\ufeff${lines.join("\n\n")}\n`],
    ["lines that each begin with a byte order mark", `\ufeff${lines.join("\n\ufeff")}\n`],
  ] as const)
    it(`gives each text of ${kind}`, async () => {
      const path = join(temporaryFolder(), "corpus.jsonl");
      writeFileSync(path, bytes);
      const documents = await read(path);
      expect(documents.map(again)).toEqual(["one\ttwo", 'drei "vier" ü 😀', "5\r\n6"]);
    });

  it("gives a text file in UTF-8, and is absent where the text was converted", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "a.txt"), "plain ü");
    writeFileSync(join(folder, "b.html"), "<p>markup</p>");
    writeFileSync(join(folder, "c.txt"), Buffer.from([0x66, 0xfc, 0x72]));
    writeFileSync(join(folder, "d.txt"), "\ufeffmarked");
    expect((await read(folder)).map(again)).toEqual(["plain ü", undefined, undefined, undefined]);
  });

  it("gives a line still when others were added to the file, and nothing once it is another or gone", async () => {
    const path = join(temporaryFolder(), "corpus.jsonl");
    writeFileSync(path, `${lines.join("\n")}\n`);
    const documents = await read(path);
    appendFileSync(path, `${line(4, "more")}\n`);
    expect(documents.map(again)).toEqual(["one\ttwo", 'drei "vier" ü 😀', "5\r\n6"]);
    writeFileSync(path, `${line(1, "one\tTWO")}\n${line(2, "other words")}`);
    utimesSync(path, 1, 1);
    // The first line differs in case alone, which is the same text.
    expect(documents.map(again)).toEqual(["one\tTWO", "", ""]);
    rmSync(path);
    expect(documents.map(again)).toEqual(["", "", ""]);
  });
});
