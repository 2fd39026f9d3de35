/**
 * Reads the input of `steward verify`: the first line of the signatures, then components, each a
 * line that begins it, its texts, its pairs by the positions of their texts, a line that ends it.
 *
 *     {"component":"7"}
 *     {"id":"a","identity":"5e88…","text":"…"}
 *     {"id":"b","identity":"ba78…","text":"…"}
 *     {"pairs":[[0,1,201]]}
 *     {"end":"7"}
 */
import { StewardError } from "../../kernel/base/errors.ts";
import type { RawLine } from "../archives/jsonl.ts";
import { readSignatureHeader } from "./header.ts";
import type { SignatureHeader } from "./header.ts";

/** What one component may hold: at most 1.2 GiB in memory. */
const LIMITS = { texts: 1_000_000, textBytes: 512 * 2 ** 20, pairs: 16_000_000 } as const;

/** Texts and the candidate pairs between them. */
export interface Component {
  readonly name: string;
  readonly ids: readonly string[];
  /** In hexadecimal, distinct; only in cover mode. */
  readonly identities: readonly string[];
  /** UTF-8. */
  readonly texts: readonly Uint8Array[];
  readonly textBytes: number;
  /** Two positions of texts for each pair. */
  readonly ends: Uint32Array;
  /** Equal values of the sketches of each pair; 0 where none was given. */
  readonly equal: Uint16Array;
}

/** The first line, and the components that follow it. */
export interface ComponentInput {
  readonly header: SignatureHeader;
  readonly components: AsyncGenerator<Component>;
}

/**
 * Opens an input. The components are read as they are wanted, one at a time. Both throw `invalid`
 * with line, field, rule and remedy; `name` is what the messages call the input.
 */
export async function readComponents(
  lines: AsyncGenerator<RawLine>,
  name: string,
  cover: boolean,
): Promise<ComponentInput> {
  const first = await lines.next();
  if (first.done === true)
    throw new StewardError("invalid", `${name} is empty`, {
      remedy: "begin with the first line that `steward sign` wrote",
    });
  const at = position(name, first.value.number);
  const header = readSignatureHeader(parseLine(first.value, at), at);
  return { header, components: componentsOf(lines, { name, cover, ...header }) };
}

interface Rules {
  readonly name: string;
  readonly cover: boolean;
  readonly numPermutations: number;
}

async function* componentsOf(
  lines: AsyncGenerator<RawLine>,
  rules: Rules,
): AsyncGenerator<Component> {
  let open: Builder | undefined;
  let last = 1;
  for await (const line of lines) {
    last = line.number;
    if (line.bytes !== undefined && isBlank(line.bytes)) continue;
    const at = position(rules.name, line.number);
    const value = parseLine(line, at);
    if ("component" in value) {
      if (open) throw invalid(at, "component", `begins before ${shown(open.name)} has ended`, END);
      open = createBuilder(readText(value, "component", at), rules);
    } else if (!open) {
      throw invalid(at, "component", "is missing", 'begin with {"component": NAME}');
    } else if ("end" in value) {
      if (value["end"] !== open.name)
        throw invalid(at, "end", `must be ${shown(open.name)}, the component that is open`, END);
      const component = open.take();
      open = undefined;
      yield component;
    } else if ("pairs" in value) open.addPairs(value["pairs"], at);
    else open.addText(value, at);
  }
  if (open)
    throw invalid(position(rules.name, last), "end", "is missing: the input is cut off", END);
}

const END = 'end each component with {"end": NAME}';

interface Builder {
  readonly name: string;
  addText(value: Fields, at: string): void;
  addPairs(value: unknown, at: string): void;
  take(): Component;
}

type Fields = Readonly<Record<string, unknown>>;

function createBuilder(name: string, { cover, numPermutations }: Rules): Builder {
  const ids: string[] = [];
  const identities: string[] = [];
  const known = new Set<string>();
  const texts: Uint8Array[] = [];
  let textBytes = 0;
  let ends = new Uint32Array(64);
  let equal = new Uint16Array(32);
  let pairs = 0;

  function addPair(value: unknown, at: string, index: number): void {
    const field = `pairs[${index}]`;
    const [a, b, rank] = Array.isArray(value) ? (value as unknown[]) : [];
    if (!isBelow(a, texts.length) || !isBelow(b, texts.length) || a === b)
      throw invalid(
        at,
        field,
        `must hold two different positions below ${texts.length}, the number of texts so far`,
        "count texts from 0 and give them before their pairs",
      );
    if (rank === undefined ? cover : !isBelow(rank, numPermutations + 1))
      throw invalid(
        at,
        `${field}[2]`,
        `must be a whole number from 0 to ${numPermutations}`,
        "give the number of equal bytes of the two sketches",
      );
    if (pairs === LIMITS.pairs) throw tooLarge(at, `${LIMITS.pairs} pairs`);
    if (pairs === equal.length) {
      ends = grown(ends, new Uint32Array(4 * pairs));
      equal = grown(equal, new Uint16Array(2 * pairs));
    }
    ends.set([a, b], 2 * pairs);
    equal[pairs] = (rank as number | undefined) ?? 0;
    pairs += 1;
  }

  return {
    name,
    addText(value, at) {
      const id = readText(value, "id", at);
      const bytes = Buffer.from(readText(value, "text", at).toWellFormed());
      if (cover) {
        const identity = value["identity"];
        if (typeof identity !== "string" || !/^[0-9a-f]{64}$/.test(identity))
          throw invalid(at, "identity", "must be 64 hexadecimal digits", FROM_SIGN);
        if (known.has(identity))
          throw invalid(at, "identity", "is that of a text before it", "give equal texts once");
        known.add(identity);
        identities.push(identity);
      }
      textBytes += bytes.length;
      if (ids.length === LIMITS.texts) throw tooLarge(at, `${LIMITS.texts} texts`);
      if (textBytes > LIMITS.textBytes) throw tooLarge(at, "512 MiB of text");
      ids.push(id);
      texts.push(bytes);
    },
    addPairs(value, at) {
      if (!Array.isArray(value))
        throw invalid(at, "pairs", "must be a list", "write [[0, 1, EQUAL], ...]");
      for (const [index, pair] of (value as unknown[]).entries()) addPair(pair, at, index);
    },
    take: () => ({
      name,
      ids,
      identities,
      texts,
      textBytes,
      ends: ends.subarray(0, 2 * pairs),
      equal: equal.subarray(0, pairs),
    }),
  };
}

const FROM_SIGN = "pass on what `steward sign` wrote";

function grown<T extends Uint32Array | Uint16Array>(from: T, to: T): T {
  to.set(from);
  return to;
}

function isBelow(value: unknown, limit: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value < limit;
}

function readText(value: Fields, field: string, at: string): string {
  const text = value[field];
  if (typeof text !== "string")
    throw invalid(at, field, text === undefined ? "is missing" : "must be text", FROM_SIGN);
  return text;
}

function parseLine({ bytes }: RawLine, at: string): Fields {
  if (bytes === undefined)
    throw invalid(at, "line", "is longer than 64 MiB", "write pairs in several lines");
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return value as Fields;
  } catch {
    // Said below.
  }
  throw invalid(at, "line", "must be a JSON object in UTF-8", "see docs/distributed.md");
}

function isBlank(bytes: Uint8Array): boolean {
  return bytes.byteLength < 256 && bytes.every((byte) => byte === 32 || byte === 9 || byte === 13);
}

function position(name: string, number: number): string {
  return `${name}: line ${number}`;
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, 80));
}

function invalid(at: string, field: string, rule: string, remedy: string): StewardError {
  return new StewardError("invalid", `${at}: ${field} ${rule}`, { field, remedy });
}

function tooLarge(at: string, limit: string): StewardError {
  return new StewardError("too_large", `${at}: a component has at most ${limit}`, {
    remedy: "divide the component, for example by leaving out its weakest pairs",
  });
}
