/**
 * Writes the monitor's documents as REST JSON, piece by piece. A part that is the same object as in the document before is not
 * written again: lists of thousands of devices and the configuration change seldom, and parts are replaced, never changed.
 */
import type { DescField, DescMessage, Message, MessageShape } from "@bufbuild/protobuf";
import { CardinalityInfoSchema } from "../../gen/steward/monitor/v1/cardinality_pb.ts";
import { NetworkStatusSchema } from "../../gen/steward/monitor/v1/collection_pb.ts";
import { StatusSchema } from "../../gen/steward/monitor/v1/status_pb.ts";
import { plainField, plainMessage } from "../../kernel/wire/write.ts";
import { isWellKnown, jsonName } from "../../kernel/wire/style.ts";
import { Turns } from "./turns.ts";

const INDENT = "  ";
/** Messages with large parts: their fields are written one by one. */
const large: ReadonlySet<string> = new Set([StatusSchema.typeName, NetworkStatusSchema.typeName, CardinalityInfoSchema.typeName]);

type Fields = Readonly<Record<string, unknown>>;

/** Writes, and remembers what it wrote. */
export class DocumentWriter {
  /** Text of a list or message at a depth. */
  readonly #written = new WeakMap<object, Map<number, Buffer>>();

  /** As `writeMessage` with two blanks would, in bytes that are the caller's. Gives way to other work. */
  async write<D extends DescMessage>(schema: D, message: MessageShape<D>): Promise<Uint8Array> {
    return await this.#message(schema, message, 0, new Turns());
  }

  async #message(schema: DescMessage, message: Message, depth: number, turns: Turns): Promise<Buffer> {
    if (!large.has(schema.typeName)) return Buffer.from(text(plainMessage(schema, message), depth));
    const members: Buffer[] = [];
    for (const field of schema.fields) {
      if (turns.over) await turns.give();
      const value = await this.#field(field, message, depth + 1, turns);
      if (value !== undefined) members.push(Buffer.concat([Buffer.from(`${JSON.stringify(jsonName(field))}: `), value]));
    }
    return enclosed("{", members, "}", depth);
  }

  /** Undefined when it is left out. */
  async #field(field: DescField, message: Message, depth: number, turns: Turns): Promise<Buffer | undefined> {
    const value = (message as unknown as Fields)[field.localName];
    if (field.fieldKind === "list" && field.listKind === "message") return await this.#messages(field, message, depth, turns);
    if (field.fieldKind === "message" && value !== undefined && !isWellKnown(field.message.typeName)) return await this.#remembered(value as Message, depth, () => this.#message(field.message, value as Message, depth, turns));
    const [plain] = Object.values(plainField(field, message));
    return plain === undefined ? undefined : Buffer.from(text(plain, depth));
  }

  async #messages(field: DescField & { readonly message: DescMessage }, message: Message, depth: number, turns: Turns): Promise<Buffer | undefined> {
    const items = (message as unknown as Readonly<Record<string, readonly Message[]>>)[field.localName] ?? [];
    // One element decides as well as all of them whether the list is left out.
    const shown = { ...message, [field.localName]: items.slice(0, 1) };
    if (Object.keys(plainField(field, shown)).length === 0) return undefined;
    return await this.#remembered(items, depth, () => this.#list(field.message, items, depth, turns));
  }

  async #list(schema: DescMessage, items: readonly Message[], depth: number, turns: Turns): Promise<Buffer> {
    const members: Buffer[] = [];
    if (large.has(schema.typeName)) for (const item of items) members.push(await this.#message(schema, item, depth + 1, turns));
    let texts: string[] = [];
    const flush = (): void => {
      if (texts.length > 0) members.push(Buffer.from(texts.join(`,${lineBreak(depth + 1)}`)));
      texts = [];
    };
    for (const item of large.has(schema.typeName) ? [] : items) {
      if (turns.over) {
        flush();
        await turns.give();
      }
      texts.push(text(plainMessage(schema, item), depth + 1));
    }
    flush();
    return enclosed("[", members, "]", depth);
  }

  async #remembered(value: object, depth: number, write: () => Promise<Buffer>): Promise<Buffer> {
    const known = this.#written.get(value) ?? new Map<number, Buffer>();
    this.#written.set(value, known);
    const bytes = known.get(depth) ?? await write();
    known.set(depth, bytes);
    return bytes;
  }
}

/** JSON text as it stands inside of something that deep. */
function text(plain: unknown, depth: number): string {
  const written = JSON.stringify(plain, null, INDENT);
  // A line break in JSON text is never part of a string.
  return depth === 0 ? written : written.replaceAll("\n", lineBreak(depth));
}

function enclosed(open: string, members: readonly Buffer[], close: string, depth: number): Buffer {
  if (members.length === 0) return Buffer.from(`${open}${close}`);
  const first = Buffer.from(lineBreak(depth + 1));
  const next = Buffer.from(`,${lineBreak(depth + 1)}`);
  return Buffer.concat([Buffer.from(open), ...members.flatMap((member, at) => [at === 0 ? first : next, member]), Buffer.from(`${lineBreak(depth)}${close}`)]);
}

function lineBreak(depth: number): string {
  return `\n${INDENT.repeat(depth)}`;
}
