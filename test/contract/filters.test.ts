/** `steward sign` and `steward verify` as an engine uses them: through pipes. */
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { LAUNCHER } from "../support/launcher.ts";
import { cleanEnvironment, removeTemporaryFolders, runSteward, temporaryFolder } from "./daemon.ts";
import { spawn } from "../support/spawn.ts";

afterAll(removeTemporaryFolders);

/** More than the slices and pipes of one worker hold. */
const LIMIT_BYTES = 32 * 2 ** 20;

const fence =
  "The garden fence between both plots will be painted green in spring by the owner of the northern plot who also buys the paint and brushes";
const lines = [
  { id: "a", content: fence },
  { id: "b", content: fence.replace("paint and", "paint and the") },
  { id: "short", content: "only three words" },
].map((line) => JSON.stringify(line));

function parse(text: string): any[] {
  return text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

async function component(): Promise<any[]> {
  const { stdout } = await runSteward(["sign", "--text", "--quiet"], { input: lines.join("\n") });
  const [header, ...texts] = parse(stdout);
  return [header, { component: "7" }, ...texts, { pairs: [[0, 1, 200]] }, { end: "7" }];
}

const text = (records: readonly unknown[]): string =>
  records.map((record) => JSON.stringify(record)).join("\n");

describe("steward sign", () => {
  it("names its parameters first, then signs each document in order, and names broken lines", async () => {
    const result = await runSteward(["sign"], {
      input: [lines[0], "broken", ...lines.slice(1)].join("\n"),
    });
    expect(result.code).toBe(0);
    const [header, ...signed] = parse(result.stdout);
    expect(header).toMatchObject({ format: "steward-signatures", version: 1, numBands: 64 });
    expect(signed.map(({ id }) => id as string)).toEqual(["a", "b"]);
    expect(signed[0].bands).toHaveLength(64);
    expect(Buffer.from(signed[0].sketch as string, "base64")).toHaveLength(256);
    expect(signed[0]).not.toHaveProperty("text");
    expect(result.stderr).toMatch(/line 2 is not valid JSON/);
    expect(result.stderr).toMatch(/1 of fewer than 20 words/);
  });

  it("writes the same bytes for any number of workers, from a pipe and from a packed file", async () => {
    const file = join(temporaryFolder(), "documents.jsonl.gz");
    const many = Array.from({ length: 4_000 }, (_, i) =>
      JSON.stringify({ id: `d${i}`, content: `${fence} number ${i} of many` }),
    ).join("\n");
    writeFileSync(file, gzipSync(many));
    const [one, two] = await Promise.all([
      runSteward(["sign", "--workers", "1"], { input: many }),
      runSteward(["sign", "--workers", "3", file]),
    ]);
    expect(parse(one.stdout)).toHaveLength(4_001);
    expect(two.stdout).toBe(one.stdout);
  });

  it("reads no more than a few megabytes while nobody reads what it writes", async () => {
    const child = spawn(LAUNCHER, ["sign", "--workers", "1"], { env: cleanEnvironment });
    child.stdin.on("error", () => undefined);
    const piece = Buffer.from(`${lines[0]}\n`.repeat(2_000));
    let taken = 0;
    let stopped = false;
    const stop = new AbortController();
    const pump = (): void => {
      if (stopped || taken > LIMIT_BYTES) return stop.abort();
      child.stdin.write(piece, () => {
        taken += piece.length;
        pump();
      });
    };
    pump();
    await expect.poll(() => taken).toBeGreaterThan(0);
    // It has stopped once nothing was taken for two seconds.
    for (;;) {
      const before = taken;
      await delay(2_000, undefined, { signal: stop.signal }).catch(() => undefined);
      if (taken === before || stop.signal.aborted) break;
    }
    stopped = true;
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
    expect(taken).toBeLessThan(LIMIT_BYTES);
  });

  it("ends quietly when its reader leaves, and with 1 when no line is a document", async () => {
    const child = spawn(LAUNCHER, ["sign"], { env: cleanEnvironment });
    child.stdin.on("error", () => undefined);
    let stderr = "";
    child.stderr.on("data", (bytes) => (stderr += String(bytes)));
    child.stdout.once("data", () => child.stdout.destroy());
    for (let i = 0; i < 20_000; i += 1) child.stdin.write(`${lines[0]}\n`);
    const code = await new Promise((resolve) => child.once("exit", resolve));
    expect([code, stderr]).toEqual([0, ""]);
    expect((await runSteward(["sign"], { input: "broken" })).code).toBe(1);
  });
});

describe("the parameters of steward sign", () => {
  it("have no more bands than values unless --bands says so", async () => {
    const signed = await runSteward(["sign", "--permutations", "32"], { input: lines.join("\n") });
    expect(signed.code, signed.stderr).toBe(0);
    const [header, first] = parse(signed.stdout);
    expect(header).toMatchObject({ numPermutations: 32, numBands: 32 });
    expect(first.bands).toHaveLength(32);
  });

  it.each([
    [["--bands", "300"], "--bands must not exceed --permutations, 256, and is 300"],
    [
      ["--permutations", "32", "--bands", "64"],
      "--bands must not exceed --permutations, 32, and is 64",
    ],
  ])("%j is a usage error that names options", async (args, problem) => {
    expect(await runSteward(["sign", ...args], { input: "" })).toEqual({
      code: 2,
      stdout: "",
      stderr: `steward sign: ${problem}; see steward sign --help\n`,
    });
  });
});

describe("steward verify", () => {
  it("scores pairs as the analysis does", async () => {
    const result = await runSteward(["verify"], { input: text(await component()) });
    expect(result.code).toBe(0);
    const [header, pair, end] = parse(result.stdout);
    expect(header).toMatchObject({ format: "steward-scores", similarityThreshold: 0.75 });
    const single = JSON.parse(
      (await runSteward(["dedup", "--json", "--quiet", "-"], { input: lines.join("\n") })).stdout,
    );
    const { confidence, jaccard, fuzzy } = single.groups[0];
    expect(pair).toMatchObject({ a: "a", b: "b", confidence, jaccard, fuzzy, passes: true });
    expect(end).toEqual({ end: "7", pairs: 1 });
  });

  it("covers components", async () => {
    const result = await runSteward(["verify", "--cover"], { input: text(await component()) });
    const [, group, end] = parse(result.stdout);
    expect(new Set([group.centre, group.members[0].id])).toEqual(new Set(["a", "b"]));
    expect(end).toEqual({ end: "7", groups: 1 });
  });

  it("refuses what it cannot trust, naming line, field and remedy", async () => {
    const [header, begin, first, second, pairs, end] = await component();
    const refused = async (records: unknown[], mode: string[] = []): Promise<string> => {
      const result = await runSteward(["verify", ...mode], { input: text(records) });
      expect(result.code).toBe(1);
      return result.stderr;
    };
    expect(await refused([begin])).toMatch(/line 1: format must be/);
    expect(await refused([{ ...header, signatureVersion: 1 }])).toMatch(/signatureVersion must be/);
    expect(await refused([header, begin, first])).toMatch(/end is missing: the input is cut off/);
    expect(await refused([header, begin, first, pairs, end])).toMatch(
      /line 4: pairs\[0\] must hold/,
    );
    expect(await refused([header, begin, first, first, pairs, end], ["--cover"])).toMatch(
      /line 4: identity is that of a text before it/,
    );
    expect(
      await refused([header, begin, first, second, { pairs: [[0, 1]] }, end], ["--cover"]),
    ).toMatch(/pairs\[0\]\[2\] must be a whole number/);
  });
});
