/**
 * Fuzzing by mutation: inputs are valid ones, cut, spliced and damaged. Every case is made from its
 * number alone, so that one that failed can be run again.
 */
import { expect } from "vitest";
import { isLongRun } from "../../support/long-run.ts";

/** Of one decoder: all together ten seconds, or two minutes each in the long run. */
export const FUZZ_MS = isLongRun ? 120_000 : 700;
/** CPU time of one input; it also finds expressions that take exponential time. */
const MAX_CASE_MS = 1_000;
const MAX_MUTATIONS = 8;
const MAX_INPUT_BYTES = 64 * 1024;

/** Whole numbers from 0 to below `limit`. */
type Random = (limit: number) => number;

export interface Decoder {
  /** Valid inputs. */
  readonly seeds: readonly (string | Uint8Array)[];
  /** Words of its grammar. */
  readonly words: readonly string[];
  /** Throws, or rejects, when a promise of the decoder is broken. */
  decode(input: Buffer): void | Promise<void>;
}

/** The same numbers for the same seed. */
function createRandom(seed: number): Random {
  let state = seed | 0;
  return (limit) => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) % Math.max(1, limit);
  };
}

/** Decodes one input after the other until the time is over; returns how many. */
export async function fuzz(decoder: Decoder, firstCase: number): Promise<number> {
  const endsMs = performance.now() + FUZZ_MS;
  let number = firstCase;
  for (; performance.now() < endsMs; number += 1) {
    const input = inputOf(decoder, number);
    const began = process.cpuUsage();
    try {
      await decoder.decode(input);
    } catch (error) {
      throw new Error(`case ${number}: ${JSON.stringify(input.toString("latin1"))}`, {
        cause: error,
      });
    }
    const { user, system } = process.cpuUsage(began);
    expect([number, (user + system) / 1_000 < MAX_CASE_MS]).toEqual([number, true]);
  }
  return number - firstCase;
}

/** The input of a case. */
export function inputOf({ seeds, words }: Decoder, number: number): Buffer {
  const random = createRandom(number);
  const pick = <T>(items: readonly T[]): T | undefined => items[random(items.length)];
  const seed = pick(seeds) ?? "";
  const isShaped = typeof seed === "string" && random(2) === 0;
  let input: Buffer = Buffer.from(isShaped ? reshaped(seed, random) : seed);
  // Few byte changes leave JSON valid: then only the shape is wrong.
  if (isShaped && random(4) > 0) return input.subarray(0, MAX_INPUT_BYTES);
  for (let left = random(MAX_MUTATIONS); left > 0; left -= 1)
    input = mutated(input, random, {
      word: Buffer.from(pick(words) ?? ""),
      other: Buffer.from(pick(seeds) ?? ""),
    });
  return input.subarray(0, MAX_INPUT_BYTES);
}

const leaves = [null, true, 0, -1, 1.5, 2 ** 53, 1e300, "", "x", "-1", [], {}, [null], { a: 1 }];
const MAX_CHANGES = 4;

/** The text with parts of its JSON replaced by others; unchanged when it is none. */
function reshaped(text: string, random: Random): string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return text;
  }
  for (let left = 1 + random(MAX_CHANGES); left > 0; left -= 1) value = changed(value, random);
  return JSON.stringify(value);
}

/** Goes down a random way and replaces, removes, repeats or nests what it finds there. */
function changed(value: unknown, random: Random): unknown {
  const isNode = typeof value === "object" && value !== null && Object.keys(value).length > 0;
  if (!isNode || random(5) === 0)
    return random(6) === 0 ? [value] : structuredClone(leaves[random(leaves.length)]);
  if (Array.isArray(value)) {
    const items = [...(value as readonly unknown[])];
    const at = random(items.length);
    const what = random(6);
    if (what === 0) items.splice(at, 1);
    else if (what === 1) items.push(items[at]);
    else items[at] = changed(items[at], random);
    return items;
  }
  const members = Object.entries(value);
  const at = random(members.length);
  return Object.fromEntries(
    members.flatMap(([name, member], index) => {
      if (index !== at) return [[name, member]];
      return random(6) === 0 ? [] : [[name, changed(member, random)]];
    }),
  );
}

function mutated(
  input: Buffer,
  random: Random,
  { word, other }: { readonly word: Buffer; readonly other: Buffer },
): Buffer {
  const at = random(input.length + 1);
  const to = at + random(Math.min(64, input.length - at + 1));
  const [before, middle, after] = [
    input.subarray(0, at),
    input.subarray(at, to),
    input.subarray(to),
  ];
  switch (random(8)) {
    case 0:
      return Buffer.concat([before, after]);
    case 1:
      return Buffer.concat([before, middle, middle, after]);
    case 2:
      return Buffer.concat([before, Buffer.from([random(256)]), after]);
    case 3:
      return Buffer.concat([before, word, after]);
    case 4:
      return Buffer.concat([before, word, middle, after]);
    case 5:
      return Buffer.concat([before, other.subarray(random(other.length + 1))]);
    case 6:
      return Buffer.concat([before, ...Array.from({ length: random(6_000) }, () => word), after]);
    default: {
      const damaged = Buffer.from(input);
      if (damaged.length > 0) {
        const index = random(damaged.length);
        damaged[index] = (damaged[index] ?? 0) ^ (1 << random(8));
      }
      return damaged;
    }
  }
}
