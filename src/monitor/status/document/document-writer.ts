/**
 * Serializes documents as REST JSON in pieces. Parts with the same object identity as in the
 * previous document are reused: device lists and the configuration change rarely and are replaced,
 * never mutated.
 */
import type { DescField, DescMessage, Message, MessageShape } from "@bufbuild/protobuf";
import { CardinalityInfoSchema } from "../../../gen/steward/monitor/v1/cardinality_pb.ts";
import { NetworkStatusSchema } from "../../../gen/steward/monitor/v1/collection_pb.ts";
import { StatusSchema } from "../../../gen/steward/monitor/v1/status_pb.ts";
import { isWellKnown, jsonName } from "../../../kernel/wire/style.ts";
import { isWritten, plainField, plainMessage } from "../../../kernel/wire/write.ts";
import { TextBlocks, type Pieces } from "./text-blocks.ts";
import { Turns } from "../../../kernel/async/turns.ts";

const INDENT = "  ";
/** Messages with large parts, whose fields are serialized one by one. */
const large: ReadonlySet<string> = new Set([
  StatusSchema.typeName,
  NetworkStatusSchema.typeName,
  CardinalityInfoSchema.typeName,
]);

/** Whether a message has large fields that rarely change. */
export function hasLargeParts(schema: DescMessage): boolean {
  return large.has(schema.typeName);
}

type Fields = Readonly<Record<string, unknown>>;

/** Keeps serialized text per object. */
export class DocumentWriter {
  /** Text of a list or message, by nesting depth. */
  readonly #written = new WeakMap<object, Map<number, Pieces>>();

  /**
   * Like `writeMessage` with two-space indentation and a final newline. Yields to the event loop.
   */
  async write<D extends DescMessage>(schema: D, message: MessageShape<D>): Promise<Pieces> {
    return [...(await this.#message(schema, message, 0, new Turns())), Buffer.from("\n")];
  }

  async #message(
    schema: DescMessage,
    message: Message,
    depth: number,
    turns: Turns,
  ): Promise<Pieces> {
    if (!hasLargeParts(schema)) return [Buffer.from(text(plainMessage(schema, message), depth))];
    const members: Pieces[] = [];
    for (const field of schema.fields) {
      if (turns.over) await turns.give();
      const value = await this.#field(field, message, depth + 1, turns);
      if (value !== undefined)
        members.push([Buffer.from(`${JSON.stringify(jsonName(field))}: `), ...value]);
    }
    return enclosed("{", members, "}", depth);
  }

  /** Undefined when the field is omitted. */
  async #field(
    field: DescField,
    message: Message,
    depth: number,
    turns: Turns,
  ): Promise<Pieces | undefined> {
    const value = (message as unknown as Fields)[field.localName];
    if (field.fieldKind === "list" && field.listKind === "message")
      return await this.#messages(field, message, depth, turns);
    if (
      field.fieldKind === "message" &&
      value !== undefined &&
      !isWellKnown(field.message.typeName)
    )
      return await this.#remembered(value as Message, depth, () =>
        this.#message(field.message, value as Message, depth, turns),
      );
    const [plain] = Object.values(plainField(field, message));
    return plain === undefined ? undefined : [Buffer.from(text(plain, depth))];
  }

  async #messages(
    field: DescField & { readonly message: DescMessage },
    message: Message,
    depth: number,
    turns: Turns,
  ): Promise<Pieces | undefined> {
    const items =
      (message as unknown as Readonly<Record<string, readonly Message[]>>)[field.localName] ?? [];
    // Only empty lists may be omitted; testing a full one would serialize it.
    if (
      !isWritten(field) ||
      (items.length === 0 && Object.keys(plainField(field, message)).length === 0)
    )
      return undefined;
    return await this.#remembered(items, depth, () =>
      this.#list(field.message, items, depth, turns),
    );
  }

  async #list(
    schema: DescMessage,
    items: readonly Message[],
    depth: number,
    turns: Turns,
  ): Promise<Pieces> {
    if (hasLargeParts(schema)) {
      const members: Pieces[] = [];
      for (const item of items) members.push(await this.#message(schema, item, depth + 1, turns));
      return enclosed("[", members, "]", depth);
    }
    if (items.length === 0) return [Buffer.from("[]")];
    const blocks = new TextBlocks();
    let texts: string[] = [];
    for (const [at, item] of items.entries()) {
      texts.push(
        at === 0 ? "[" : ",",
        lineBreak(depth + 1),
        text(plainMessage(schema, item), depth + 1),
      );
      if (!turns.over) continue;
      blocks.add(texts.join(""));
      texts = [];
      await turns.give();
    }
    blocks.add(`${texts.join("")}${lineBreak(depth)}]`);
    return blocks.pieces();
  }

  async #remembered(value: object, depth: number, write: () => Promise<Pieces>): Promise<Pieces> {
    const known = this.#written.get(value) ?? new Map<number, Pieces>();
    this.#written.set(value, known);
    const pieces = known.get(depth) ?? (await write());
    known.set(depth, pieces);
    return pieces;
  }
}

/** JSON text indented for its depth. */
function text(plain: unknown, depth: number): string {
  const written = JSON.stringify(plain, null, INDENT);
  // JSON strings contain no raw line breaks.
  return depth === 0 ? written : written.replaceAll("\n", lineBreak(depth));
}

function enclosed(open: string, members: readonly Pieces[], close: string, depth: number): Pieces {
  if (members.length === 0) return [Buffer.from(`${open}${close}`)];
  const first = Buffer.from(`${open}${lineBreak(depth + 1)}`);
  const next = Buffer.from(`,${lineBreak(depth + 1)}`);
  return [
    ...members.flatMap((member, at) => [at === 0 ? first : next, ...member]),
    Buffer.from(`${lineBreak(depth)}${close}`),
  ];
}

function lineBreak(depth: number): string {
  return `\n${INDENT.repeat(depth)}`;
}
