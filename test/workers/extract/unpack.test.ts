import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { unpackBzip2 } from "../../../workers/extract/bzip2.ts";
import { mail, pdf } from "../../support/documents.ts";
import { itemsOf, refusalOf, textOf } from "./extracting.ts";

function bzip2(input: string | Uint8Array): Buffer {
  return execFileSync("bzip2", { input, maxBuffer: 2 ** 27 });
}

const never = (): boolean => false;

const packings = [
  ["gzip", "gz", (bytes: Uint8Array) => gzipSync(bytes)],
  ["zstd", "zst", (bytes: Uint8Array) => zstdCompressSync(bytes)],
  ["bzip2", "bz2", bzip2],
] as const;

describe.each(packings)("a file packed by %s", (label, ending, pack) => {
  it("is read as what it holds, under its name without the ending", async () => {
    expect(await textOf(`notes.md.${ending}`, pack(Buffer.from("# Head\n\ntext")))).toMatchObject({
      title: "Head",
      text: "# Head\n\ntext",
    });
    expect((await textOf(`a.pdf.${ending}`, pack(pdf(["words"])))).text).toBe("words");
    const items = await itemsOf(
      "strange name",
      pack(mail({ From: "a", Subject: "s" }, "b", [["m.txt", Buffer.from("m")]])),
    );
    expect(items.map(({ member }) => member)).toEqual(["m.txt", ""]);
  });

  it("may consist of several that follow each other", async () => {
    const both = Buffer.concat([pack(Buffer.from("one ")), pack(Buffer.from("two"))]);
    expect((await textOf(`a.txt.${ending}`, both)).text).toBe("one two");
  });

  it("is refused when it is a bomb, cut off or damaged", async () => {
    const bomb = pack(Buffer.alloc(65 * 2 ** 20, 97));
    expect(await refusalOf(`a.txt.${ending}`, bomb)).toBe("too large: unpacks to more than 64 MiB");
    const sound = pack(Buffer.from("some words ".repeat(100)));
    for (const bytes of [sound.subarray(0, -9), sound.subarray(0, 12)])
      expect(await refusalOf("a", bytes)).toContain(`broken ${label}: cannot be unpacked`);
  });

  it("is refused when it holds itself again and again", async () => {
    let bytes: Uint8Array = Buffer.from("inmost");
    for (let depth = 0; depth < 6; depth++) bytes = pack(bytes);
    expect(await refusalOf("a", bytes)).toBe("too deep: is packed more than 5 times");
  });
});

describe("bzip2", () => {
  it("gives back every byte, over many blocks, runs and streams", () => {
    const inputs = [
      Buffer.alloc(0),
      Buffer.from("a"),
      Buffer.alloc(3_000_000, 98),
      randomBytes(1_200_000),
      Buffer.from(Array.from({ length: 300_000 }, (_, at) => at % 251)),
    ];
    for (const input of inputs)
      for (const level of ["-1", "-9"]) {
        const packed = execFileSync("bzip2", [level], { input, maxBuffer: 2 ** 27 });
        expect(Buffer.compare(unpackBzip2(packed, 2 ** 26, never), input)).toBe(0);
      }
  });

  it("takes no damage for data", () => {
    const packed = bzip2(Array.from({ length: 60 }, (_, at) => `${at * 7_919} words`).join(" "));
    for (let at = 4; at < packed.byteLength; at++) {
      const wrong = Buffer.from(packed);
      wrong[at] = (wrong[at] ?? 0) ^ 0x10;
      expect(() => unpackBzip2(wrong, 2 ** 20, never), `byte ${at}`).toThrow("damaged");
    }
  });

  it("stops between blocks when its caller has gone", () => {
    expect(() => unpackBzip2(bzip2("words"), 2 ** 20, () => true)).toThrow("gone");
  });
});
