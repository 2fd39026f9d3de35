/**
 * Walks the records of a body: small values are parsed at once, large ones taken apart first, so
 * that neither many small records nor one large one costs more memory than the body allows.
 */
import { StewardError } from "../../../kernel/base/errors.ts";
import { Turns } from "../../../kernel/async/turns.ts";
import { parseTree, type TreeLimits } from "../../../kernel/json/tree.ts";
import {
  envelopeOf,
  MAX_WRAPPERS,
  noEnvelope,
  unwrap,
  type Envelope,
  type JsonObject,
  type RecordSink,
} from "./envelope.ts";
import { MAX_CONNECTIONS, MAX_RECORDS, trafficMembers } from "./limits.ts";
import { nameOfLongList, parts, type Span } from "./parts.ts";
import { rejection } from "./rejection.ts";

/** A longer value is taken apart; a shorter one has less than 33,000 values. */
const PARSED_BYTES = 64 * 1024;
/** What is parsed of a wrapper beside its records. */
const MAX_BESIDE_BYTES = 64 * 1024;
/** Values per connection, generously, and as many again for a record's other members. */
const VALUES_PER_CONNECTION = 8;
const LIMITS: TreeLimits = {
  depth: 128,
  values: (MAX_CONNECTIONS + 50_000) * VALUES_PER_CONNECTION,
  members: 100_000,
  numberLength: 1_000,
  nameBytes: 1024 * 1024,
};

/** `settled` is called between slices: what it returns is awaited before the walk goes on. */
export interface WalkSink extends RecordSink {
  settled?(): Promise<void> | undefined;
}

/**
 * Throws a `Refusal`: `unparsable`, `malformed`, `too_many_records`, `too_many_connections` or
 * `decode_error`; or the signal's reason.
 */
export async function walkRecords(
  body: Buffer,
  sink: WalkSink,
  signal: AbortSignal,
): Promise<void> {
  const walk = new Walk(body, sink, signal);
  let good = 0;
  try {
    for await (const values of parts(body, { from: 0, to: body.length }, "concatenated", walk.pace))
      for (const value of values) {
        await walk.value(value, 0, noEnvelope);
        good += 1;
      }
    await sink.settled?.();
  } catch (thrown) {
    if (!(thrown instanceof StewardError) || !["invalid", "too_large"].includes(thrown.code))
      throw thrown;
    if (thrown.rule === "elements") throw await tooMany(body, walk.pace);
    throw good > 0 || walk.seen > 0 || (await hasValidLine(body, walk.pace))
      ? rejection("malformed", thrown.message)
      : rejection("unparsable", thrown.message);
  }
  if (walk.seen === 0) throw rejection("unparsable", "the body has no records");
}

/** Records and connections are limited alike; the list's name tells which they are. */
async function tooMany(body: Buffer, pace: Walk["pace"]): Promise<Error> {
  const name = await nameOfLongList(body, { from: 0, to: body.length }, pace);
  return trafficMembers.some((member) => member === name)
    ? rejection("too_many_connections", `more than ${MAX_CONNECTIONS} connections`)
    : rejection("too_many_records", `more than ${MAX_RECORDS} records`);
}

class Walk {
  readonly pace: { readonly turns: Turns; readonly signal: AbortSignal };
  readonly #body: Buffer;
  readonly #sink: WalkSink;
  readonly #counted: RecordSink;
  /** Records and dropped values. */
  seen = 0;

  constructor(body: Buffer, sink: WalkSink, signal: AbortSignal) {
    this.#body = body;
    this.#sink = sink;
    this.pace = { turns: new Turns(), signal };
    this.#counted = {
      record: (value, envelope) => {
        this.#count();
        sink.record(value, envelope);
      },
      dropped: () => {
        this.#count();
        sink.dropped();
      },
    };
  }

  /** Hands over the records of one value that has `depth` wrappers around it. */
  async value(span: Span, depth: number, envelope: Envelope): Promise<void> {
    const { turns, signal } = this.pace;
    if (turns.over) {
      await turns.give(signal);
      await this.#sink.settled?.();
    }
    if (depth > MAX_WRAPPERS) this.#counted.dropped();
    else if (span.to - span.from <= PARSED_BYTES)
      unwrap(this.#parse(span), depth, envelope, this.#counted);
    else if (this.#body[span.from] === 0x5b) await this.#elements(span, depth, envelope);
    else if (this.#body[span.from] === 0x7b) await this.#object(span, depth, envelope);
    else this.#counted.dropped();
  }

  async #elements(span: Span, depth: number, envelope: Envelope): Promise<void> {
    for await (const elements of parts(this.#body, span, "children", this.pace))
      for (const element of elements) await this.value(element, depth + 1, envelope);
  }

  /** A large object: a wrapper is taken apart, a record parsed in slices. */
  async #object(span: Span, depth: number, outer: Envelope): Promise<void> {
    const members = await this.#members(span);
    const event = members.get("event");
    const logs = members.get("logs");
    const inner = (): Envelope => envelopeOf(this.#beside(members), outer);
    if (event !== undefined) return await this.value(event, depth + 1, inner());
    if (logs !== undefined && this.#body[logs.from] === 0x5b && !this.#isEmpty(logs))
      return await this.#elements(logs, depth, inner());
    this.#counted.record(await this.#large(span, members), outer);
  }

  async #members(span: Span): Promise<Map<string, Span>> {
    const members = new Map<string, Span>();
    let count = 0;
    for await (const found of parts(this.#body, span, "children", this.pace)) {
      count += found.length;
      if (count > LIMITS.members)
        throw rejection("decode_error", `an object has more than ${LIMITS.members} members`);
      for (const { name, from, to } of found) {
        if (name === undefined || name.to - name.from > LIMITS.nameBytes) continue;
        const text: unknown = this.#parse(name);
        if (known.has(text)) members.set(text as string, { from, to });
      }
    }
    return members;
  }

  /** The members of a wrapper that carry its times. */
  #beside(members: ReadonlyMap<string, Span>): JsonObject {
    return Object.fromEntries(
      ["time", "fields"].flatMap((name) => {
        const span = members.get(name);
        return span === undefined || span.to - span.from > MAX_BESIDE_BYTES
          ? []
          : [[name, this.#parse(span)]];
      }),
    );
  }

  async #large(span: Span, members: ReadonlyMap<string, Span>): Promise<JsonObject> {
    let connections = 0;
    for (const member of trafficMembers) {
      const list = members.get(member);
      if (list === undefined || this.#body[list.from] !== 0x5b) continue;
      for await (const found of parts(this.#body, list, "children", this.pace)) {
        connections += found.length;
        if (connections > MAX_CONNECTIONS)
          throw rejection("too_many_connections", `more than ${MAX_CONNECTIONS} connections`);
      }
    }
    const parsed = await parseTree(this.#body.subarray(span.from, span.to), {
      limits: LIMITS,
    }).catch((thrown: unknown) => {
      if (thrown instanceof StewardError && thrown.code === "too_large")
        throw rejection("decode_error", `a record is too large: ${thrown.message}`);
      throw thrown;
    });
    return parsed as JsonObject;
  }

  #isEmpty({ from, to }: Span): boolean {
    return this.#body.toString("latin1", from + 1, Math.min(to, from + 64)).trim() === "]";
  }

  #parse({ from, to }: Span): unknown {
    return JSON.parse(this.#body.toString("utf8", from, to));
  }

  #count(): void {
    if (this.seen === MAX_RECORDS)
      throw rejection("too_many_records", `more than ${MAX_RECORDS} records`);
    this.seen += 1;
  }
}

/** Members that are looked for in a large object. */
const known: ReadonlySet<unknown> = new Set(["event", "logs", "time", "fields", ...trafficMembers]);

/** Lines tried until the first valid one. */
const MAX_LINES = 1_000;
const MAX_LINE_BYTES = 1024 * 1024;

/** Whether one of the first lines is JSON, so that the text was cut or damaged. */
async function hasValidLine(body: Buffer, { turns, signal }: Walk["pace"]): Promise<boolean> {
  let tried = 0;
  for (let from = 0; from < body.length && tried < MAX_LINES; tried += 1) {
    if (turns.over) await turns.give(signal);
    const end = body.indexOf(0x0a, from);
    const to = end === -1 ? body.length : end;
    if (to - from <= MAX_LINE_BYTES && isJson(body.toString("utf8", from, to))) return true;
    from = to + 1;
  }
  return false;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
