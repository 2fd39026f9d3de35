/** Files of every kind, sound and hostile, through the command and the daemon as shipped. */
import { execFileSync } from "node:child_process";
import { linkSync } from "node:fs";
import { join } from "node:path";
import { deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { docx, epub, mail, odt, pdf, zip } from "../support/documents.ts";
import { LAUNCHER } from "../support/launcher.ts";
import { folderConfig, smallArchive, writeFiles } from "./corpus.ts";
import {
  cleanEnvironment,
  removeTemporaryFolders,
  rest,
  runJob,
  runSteward,
  startDaemon,
  temporaryFolder,
} from "./daemon.ts";
import { spawn } from "../support/spawn.ts";

afterAll(removeTemporaryFolders);

const text = smallArchive["minutes/fence.txt"] ?? "";
// A line of a page as it is printed.
const printed = text.replaceAll(/(.{60}) /g, "$1\n");
const long = `${text} `.repeat(4_000);

function bzip2(input: string): Buffer {
  return execFileSync("bzip2", { input });
}

function pile(files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = temporaryFolder();
  writeFiles(folder, files);
  return folder;
}

async function report(...args: readonly string[]): Promise<any> {
  const { stdout, code, stderr } = await runSteward(["dedup", "--json", "--quiet", ...args]);
  expect([code, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout);
}

function memberIds(result: any): string[][] {
  return result.groups.map((group: any) => group.members.map((member: any) => member.id).sort());
}

const sound: Readonly<Record<string, string | Uint8Array>> = {
  "a.txt": text,
  "b.pdf": pdf([printed]),
  "c.docx": docx([text]),
  "d.odt": odt([text]),
  "e.epub": epub([`<p>${text}</p>`]),
  "f.rtf": `{\\rtf1\\ansi ${text}}`,
  "g.eml": mail({ From: "a@example.com", Subject: "Minutes" }, text, [
    ["minutes.pdf", pdf([printed])],
  ]),
  "h.csv": text.replaceAll(" ", ","),
  "i.xml": `<?xml version="1.0"?><minutes>${text}</minutes>`,
  "j.org": text,
  "k.tex": text,
  "l.py": text,
  "m.html": `<!doctype html><p>${text}`,
  "n.txt": Buffer.from(text, "utf16le"),
  "o.txt.gz": gzipSync(text),
  "p.md.zst": zstdCompressSync(text),
  "q.docx.bz2": execFileSync("bzip2", { input: docx([text]) }),
  "r.pdf.gz": gzipSync(pdf([printed])),
  "no-name-of-a-kind": docx([text]),
  "wrong-name.txt": pdf([printed]),
};

describe("a pile of every kind of file", () => {
  it("is one group, the attachment of the mail included", async () => {
    const folder = pile(sound);
    const result = await report(folder);
    expect(memberIds(result)).toEqual([
      [...Object.keys(sound), "g.eml/minutes.pdf"].sort().map((name) => join(folder, name)),
    ]);
    expect(result.summary.skipped).toEqual({});
  });

  it("is read the same when each file is given by its own path", async () => {
    const folder = pile(sound);
    const paths = Object.keys(sound).map((name) => join(folder, name));
    expect(memberIds(await report(...paths))).toEqual(memberIds(await report(folder)));
  });

  it("is read by the daemon, and what is in a mail stays while the mail does", async () => {
    const folder = pile({ ...sound, "long.txt": long });
    const daemon = await startDaemon({ config: folderConfig(temporaryFolder(), folder) });
    onTestFinished(() => daemon.stop().then(() => undefined));
    const groups = async (): Promise<any[]> =>
      (await rest(daemon, "GET", "/api/v1/duplicates")).json.data;
    for (const inserted of [Object.keys(sound).length + 2, 0]) {
      const job = await runJob(daemon, "/api/v1/sync");
      expect(JSON.parse(job.resultJson)).toMatchObject({ inserted, failed: 0, reconciled: 0 });
      // The first sync starts an analysis.
      await expect.poll(async () => (await groups()).length).toBe(1);
    }
    const listed = (await rest(daemon, "GET", "/api/v1/documents?limit=100")).json.data;
    const truncated = Object.fromEntries(
      listed.map((document: any) => [document.archiveRef, document.truncated]),
    );
    expect(truncated).toEqual({
      ...Object.fromEntries(Object.keys(sound).map((name) => [name, false])),
      "g.eml/minutes.pdf": false,
      "long.txt": true,
    });
    const [group] = await groups();
    const { members } = (await rest(daemon, "GET", `/api/v1/duplicates/${group.id}`)).json.data;
    expect(members).toHaveLength(Object.keys(sound).length + 1);
    expect(members[0]).toMatchObject({ truncated: false });
  });
});

describe("a pile with hostile files", () => {
  const bombPage = deflateSync(Buffer.alloc(200 * 2 ** 20, 32));
  const laughs = Array.from({ length: 30 }, (_, at) => `<!ENTITY l${at + 1} "&l${at};&l${at};">`);
  const hostile: Readonly<Record<string, string | Uint8Array>> = {
    "bomb.docx": zip({ "word/document.xml": Buffer.alloc(65 * 2 ** 20, 32) }),
    "bomb.gz": gzipSync(Buffer.alloc(65 * 2 ** 20, 97)),
    "bomb.bz2": bzip2("a".repeat(65 * 2 ** 20)),
    "bomb.pdf": pdf([{ dictionary: "/Filter /FlateDecode", stream: bombPage }]),
    "bomb.zst": zstdCompressSync(Buffer.alloc(65 * 2 ** 20, 97)),
    "broken.docx": docx([text]).subarray(0, 300),
    "broken.epub": epub([text]).subarray(0, 300),
    "broken.odt": odt([text]).subarray(0, 300),
    "broken.pdf": "%PDF-1.4\n\x00\x01",
    "cut.gz": gzipSync(text).subarray(0, 40),
    "encrypted.docx": Buffer.concat([Buffer.from("d0cf11e0a1b11ae1", "hex"), Buffer.alloc(4_000)]),
    "nested.rtf": `{\\rtf1 ${"{".repeat(100_000)}`,
    "scan.pdf": pdf(["", ""]),
  };
  const reasons: Readonly<Record<string, string>> = {
    "bomb.docx": "too large",
    "bomb.gz": "too large",
    "bomb.bz2": "too large",
    "bomb.pdf": "broken PDF",
    "bomb.zst": "too large",
    "broken.docx": "broken DOCX",
    "broken.epub": "broken EPUB",
    "broken.odt": "broken ODT",
    "broken.pdf": "broken PDF",
    "cut.gz": "broken gzip",
    "encrypted.docx": "encrypted",
    "nested.rtf": "broken RTF",
    "scan.pdf": "no text layer (needs OCR)",
  };

  it("loses only those, each with its reason, in bounded memory", async () => {
    const entities = `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY l0 "lol">${laughs.join("")}]><x>${text} &l30;</x>`;
    const folder = pile({
      ...hostile,
      "a.txt": text,
      "entities.xml": entities,
      "z.pdf": pdf([printed]),
    });
    const { stdout, stderr, code } = await runSteward([
      "dedup",
      "--json",
      "--quiet",
      "--skipped",
      folder,
    ]);
    expect([code, stderr]).toEqual([0, ""]);
    const result = JSON.parse(stdout);
    expect(memberIds(result)).toEqual([
      ["a.txt", "entities.xml", "z.pdf"].map((name) => join(folder, name)),
    ]);
    const skipped = result.summary.skippedItems.map(({ id, reason }: any) => [id, reason]);
    expect(Object.fromEntries(skipped)).toEqual(
      Object.fromEntries(
        Object.entries(reasons).map(([name, reason]) => [join(folder, name), reason]),
      ),
    );
    expect(result.summary.skipped["no text layer (needs OCR)"]).toBe(1);
    // Two threads with their heap and buffers each, and the process itself.
    expect(result.summary.peakMemoryBytes).toBeLessThan(2 * 2 ** 30);
  });

  it("that holds nothing else ends 1 and says how to see why", async () => {
    const folder = pile({ "scan.pdf": pdf([""]), "broken.docx": "PK\x03\x04", "photo.png": "x" });
    for (const paths of [[folder], [join(folder, "scan.pdf"), join(folder, "broken.docx")]]) {
      const result = await runSteward(["dedup", "--quiet", ...paths]);
      expect(result.code).toBe(1);
      expect(result.stderr).toBe(
        "steward dedup: nothing was read: no file or line is a document; --skipped lists why\n",
      );
      expect(result.stdout).toContain("0 documents");
    }
  });
});

describe("steward dedup", () => {
  it("lists everything that was skipped, for people too", async () => {
    const folder = pile({
      "a.txt": text,
      "short.txt": "too short",
      "photo.png": "x",
      ".hidden/b.txt": text,
      "node_modules/c.txt": text,
      "excluded.txt": text,
    });
    const { stdout, code } = await runSteward([
      "dedup",
      "--quiet",
      "--skipped",
      "--exclude",
      "excluded.*",
      folder,
    ]);
    expect(code).toBe(0);
    expect(stdout.split("\n").filter((line) => line.startsWith("skipped"))).toEqual([
      `skipped (hidden): ${join(folder, ".hidden")}: is hidden; a pattern can include it`,
      `skipped (excluded): ${join(folder, "excluded.txt")}: is excluded by the patterns`,
      `skipped (node_modules): ${join(folder, "node_modules")}: contains installed packages; a pattern can include it`,
      `skipped (other type): ${join(folder, "photo.png")}: .png`,
      `skipped (of fewer than 20 words): ${join(folder, "short.txt")}`,
    ]);
  });

  it("reads what patterns include, hidden files among them when they are named", async () => {
    const folder = pile({
      "a.txt": text,
      "b.md": text,
      "c.log": text,
      ".notes/d.md": text,
      "sub/e.md": text,
    });
    const ids = async (...args: readonly string[]): Promise<string[]> =>
      memberIds(await report(...args, folder))
        .flat()
        .map((id) => id.slice(folder.length + 1));
    expect(await ids()).toEqual(["a.txt", "b.md", "c.log", "sub/e.md"]);
    expect(await ids("--include", "*.md", "--include", "*.log")).toEqual([
      "b.md",
      "c.log",
      "sub/e.md",
    ]);
    expect(await ids("--include", "*.md", "--include", ".notes/*", "--exclude", "sub")).toEqual([
      ".notes/d.md",
      "b.md",
    ]);
    const wrong = await runSteward(["dedup", "--include", "", folder]);
    expect([wrong.code, wrong.stderr]).toEqual([
      2,
      "steward dedup: --include must not be empty; see steward dedup --help\n",
    ]);
  });

  it("reads JSON Lines whatever their fields and their file are called", async () => {
    const rows = [text, "something else altogether", text].map((body, at) =>
      JSON.stringify({ url: `u${at}`, text: body, body }),
    );
    const folder = pile({
      "train-00000-of-00001": rows.join("\n"),
      "packed.bz2": bzip2(rows.join("\n")),
    });
    const file = join(folder, "train-00000-of-00001");
    expect(memberIds(await report(file))).toEqual([["1", "3"]]);
    expect(memberIds(await report("--id-field", "url", "--text-field", "body", file))).toEqual([
      ["u0", "u2"],
    ]);
    expect(memberIds(await report(join(folder, "packed.bz2")))).toEqual([["1", "3"]]);
    const wrong = await runSteward(["dedup", "--quiet", "--text-field", "content", file]);
    expect([wrong.code, wrong.stdout]).toEqual([1, expect.stringContaining("has no content")]);
  });

  it("tells hard links from copies, and marks texts that were cut", async () => {
    const folder = pile({
      "a.txt": text,
      "copy.txt": text,
      "long.txt": long,
      "longer.txt": `${long}x`,
    });
    linkSync(join(folder, "a.txt"), join(folder, "link.txt"));
    const result = await report(folder);
    const members = result.groups.map((group: any) =>
      Object.fromEntries(
        group.members.map(({ id, truncated, hardLinkOf }: any) => [
          id.slice(folder.length + 1),
          [truncated, hardLinkOf?.slice(folder.length + 1)],
        ]),
      ),
    );
    expect(
      members.toSorted((a: any, b: any) => Object.keys(b).length - Object.keys(a).length),
    ).toEqual([
      {
        "a.txt": [undefined, undefined],
        "copy.txt": [undefined, undefined],
        "link.txt": [undefined, "a.txt"],
      },
      { "long.txt": [true, undefined], "longer.txt": [true, undefined] },
    ]);
    const reasons = result.groups.map((group: any) => group.reasons.join("; "));
    expect(reasons.filter((reason: string) => reason.includes("exact copy"))).toHaveLength(1);
    expect(
      reasons.filter((reason: string) => reason.includes("only the beginning of the text")),
    ).toHaveLength(1);
    const people = (await runSteward(["dedup", "--quiet", folder])).stdout;
    expect(people).toContain(", hard link)");
    expect(people).toContain(", truncated)");
  });

  it("fails at once when the state folder cannot be written, before anything is read", async () => {
    const folder = pile({ "a.txt": text, file: "" });
    const pipe = join(folder, "pipe");
    execFileSync("mkfifo", [pipe]);
    // Reading the pipe would wait for a writer that never comes.
    const child = spawn(LAUNCHER, ["dedup", "--state", join(folder, "file/state"), pipe], {
      env: cleanEnvironment,
    });
    const impatient = setTimeout(() => child.kill("SIGKILL"), 60_000);
    let told = "";
    child.stderr.on("data", (bytes: Buffer) => (told += bytes.toString()));
    const code = await new Promise((resolve) => child.on("close", resolve));
    clearTimeout(impatient);
    expect(code).toBe(1);
    expect(told).toContain("file/state");
  });
});
