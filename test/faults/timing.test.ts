/**
 * The one comparison of secrets, measured by itself; `timing-requests.test.ts` measures requests to
 * a running daemon.
 */
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { equalSecrets } from "../../src/kernel/base/secret.ts";
import { median } from "../soak/statistics.ts";
import { LEAKAGE_BAR, welch } from "../support/welch.ts";
import { isLongRun } from "../support/long-run.ts";

const root = join(import.meta.dirname, "../..");
const SAMPLES = isLongRun ? 100_000 : 4_000;
/** A quiet machine passes the first time; noise fails now and then, a leak always. */
const TRIES = isLongRun ? 3 : 6;
/** Rounds in one sample, so that the clock's own step does not decide. */
const ROUNDS = 4;

type Compare = (left: string, right: string) => boolean;
type Class = "first byte wrong" | "last byte wrong" | "wrong length" | "right";

/** Strings of one make: what V8 knows about a string must not differ by class. */
function fresh(text: string): string {
  return Buffer.from(text, "latin1").toString("latin1");
}

/** What is compared with what, in each class two pairs. */
type Pairs = readonly (readonly [secret: string, candidate: string])[];

/**
 * Two secrets, one a byte shorter. Every class reads both and one candidate of each length, so that
 * classes differ in what agrees and never in how much there is to hash: what a longer candidate
 * takes longer, whoever sent it knows already.
 */
function classes(secret: string): Record<Class, Pairs> {
  const other = (character: string | undefined): string => (character === "a" ? "b" : "a");
  const short = fresh(secret.slice(1));
  const pairs = (change: (text: string) => string): Pairs => [
    [secret, fresh(change(secret))],
    [short, fresh(change(short))],
  ];
  return {
    "first byte wrong": pairs((text) => other(text[0]) + text.slice(1)),
    "last byte wrong": pairs((text) => text.slice(0, -1) + other(text.at(-1))),
    "wrong length": [
      [secret, fresh(secret.slice(0, -1))],
      [short, fresh(`${short}a`)],
    ],
    right: pairs((text) => text),
  };
}

/** Nanoseconds per sample and class, the classes taking turns in an order that changes. */
function measure(compare: Compare, secret: string, samples: number): Map<Class, Float64Array> {
  const inputs = Object.entries(classes(secret)) as [Class, Pairs][];
  const times = new Map(inputs.map(([name]) => [name, new Float64Array(samples)]));
  const order = randomBytes(samples);
  for (let sample = -500; sample < samples; sample += 1) {
    for (let turn = 0; turn < inputs.length; turn += 1) {
      const entry = inputs[((order[Math.max(0, sample)] ?? 0) + turn) % inputs.length];
      if (entry === undefined) continue;
      const [name, pairs] = entry;
      const began = process.hrtime.bigint();
      for (let round = 0; round < ROUNDS; round += 1)
        for (const [left, right] of pairs) compare(left, right);
      const took = Number(process.hrtime.bigint() - began);
      const column = times.get(name);
      if (sample >= 0 && column !== undefined) column[sample] = took; // the first 500 rounds warm up
    }
  }
  return times;
}

/** The largest |t| over all pairs of classes. */
function worst(compare: Compare, secret: string, samples: number): { t: number; pair: string } {
  const columns = [...measure(compare, secret, samples)];
  const pairs = columns.flatMap(([left, a], at) =>
    columns
      .slice(at + 1)
      .map(([right, b]) => ({ t: Math.abs(welch(a, b)), pair: `${left} / ${right}` })),
  );
  return pairs.reduce((most, pair) => (pair.t > most.t ? pair : most));
}

/** The least of several tries: what leaks does so each time. */
function leastOf(compare: Compare, secret: string): { t: number; pair: string } {
  let least = worst(compare, secret, SAMPLES);
  for (let tries = 1; least.t >= LEAKAGE_BAR && tries < TRIES; tries += 1) {
    const again = worst(compare, secret, SAMPLES);
    if (again.t < least.t) least = again;
  }
  return least;
}

/** What nobody should do: leaves at the first byte that differs. */
function leaky(left: string, right: string): boolean {
  if (left.length !== right.length) return false;
  for (let at = 0; at < left.length; at += 1)
    if (left.charCodeAt(at) !== right.charCodeAt(at)) return false;
  return true;
}

/** Nor this: how long the secret is shows in the time. */
function tellsLength(left: string, right: string): boolean {
  return left.length === right.length && equalSecrets(left, right);
}

describe("the comparison of secrets", () => {
  const secret = randomBytes(24).toString("hex");

  it("tells right from wrong", () => {
    const answers = Object.fromEntries(
      Object.entries(classes(secret)).map(([name, pairs]) => [
        name,
        pairs.map(([left, right]) => equalSecrets(left, right)),
      ]),
    );
    expect(answers).toEqual({
      "first byte wrong": [false, false],
      "last byte wrong": [false, false],
      "wrong length": [false, false],
      right: [true, true],
    });
    expect([
      equalSecrets("", ""),
      equalSecrets(secret, ""),
      equalSecrets("", secret),
      equalSecrets("é", "e\u0301"),
    ]).toEqual([true, false, false, false]);
  });

  it("takes the same time wherever the difference is: Welch's t stays under 4.5", () => {
    const { t, pair } = leastOf(equalSecrets, secret);
    if (isLongRun)
      process.stdout.write(`${SAMPLES} samples a class: worst |t| ${t.toFixed(2)} (${pair})\n`);
    expect([t < LEAKAGE_BAR, t, pair]).toEqual([true, t, pair]);
  });

  it("is measured finely enough to find a comparison that leaves early", () => {
    // Most tries find it: on a busy machine one may drown.
    for (const compare of [leaky, tellsLength]) {
      expect(
        median(Array.from({ length: 3 }, () => worst(compare, secret, SAMPLES).t)),
      ).toBeGreaterThan(LEAKAGE_BAR);
    }
  });
});

/**
 * Comparisons, as operators, of something whose name says that it is secret, with anything but a
 * constant.
 */
function openComparisons(text: string): string[] {
  const code = text.replaceAll(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*$/gm, "");
  const operand = String.raw`[\w$#\])"'\`]+(?:(?:\?\.|\.|\[)[\w$#\]"']+|\([^()]*\))*`;
  const found: string[] = [];
  for (const match of code.matchAll(
    new RegExp(String.raw`(${operand})!?\s*[!=]==?\s*([!(]*${operand})`, "g"),
  )) {
    const [whole, left = "", right = ""] = match;
    if ([left, right].some((side) => isConstant(side))) continue;
    if ([left, right].some((side) => isSecretName(side))) found.push(whole);
  }
  return found;
}

function isConstant(operand: string): boolean {
  return /^["'`\d]|^(undefined|null|true|false)\b/.test(operand);
}

function isSecretName(operand: string): boolean {
  const name =
    operand
      .replaceAll(/\([^()]*\)/g, "")
      .split(/\.|\?\./)
      .at(-1) ?? "";
  return /(token|secret|password|passphrase|credential|apikey|hmac)s?$/i.test(name);
}

describe("the house", () => {
  it("compares no secret by an operator, but by Secret.equals", () => {
    const files = ["src", "gateway"].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map(
        (file) => `${folder}/${file}`,
      ),
    );
    const authored = files.filter((file) => file.endsWith(".ts") && !file.startsWith("src/gen/"));
    expect(authored.length).toBeGreaterThan(100);
    expect(
      authored.flatMap((file) =>
        openComparisons(readFileSync(join(root, file), "utf8")).map((found) => `${file}: ${found}`),
      ),
    ).toEqual([]);
  });

  it("would notice one", () => {
    const wrong = [
      "if (token === given) x",
      "presented !== this.#secret",
      "a.password == b",
      "options.auth.token !== header",
      "expectedToken() === got",
      "(row?.apiKey === key)",
    ];
    expect(wrong.filter((line) => openComparisons(line).length === 0)).toEqual([]);
    expect(
      [
        "token === undefined",
        'base.password !== ""',
        "key.secret === true",
        'this.#token === "none"',
        "// token === given",
        "tokens.length === 3",
        "token.kind !== kind",
        "(token === undefined)",
      ].filter((line) => openComparisons(line).length > 0),
    ).toEqual([]);
  });
});
