/**
 * Difference between two documents as a JSON Patch (RFC 6902) of their REST JSON. Parts with the
 * same object identity are skipped: lists of thousands of devices are replaced as a whole, never
 * mutated.
 */
import type { DescField, DescMessage, Message, MessageShape } from "@bufbuild/protobuf";
import { Turns } from "../../../kernel/async/turns.ts";
import { jsonName } from "../../../kernel/wire/style.ts";
import { plainField, plainMessage } from "../../../kernel/wire/write.ts";
import { hasLargeParts } from "./document-writer.ts";

/** `path` is a JSON Pointer (RFC 6901). */
export type PatchOperation =
  | { readonly op: "add" | "replace"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string };

type Pair<T> = readonly [before: T, after: T];

/**
 * Operations that turn `before` into `after`; empty for equal documents. Yields to the event loop.
 */
export async function patchBetween<D extends DescMessage>(
  schema: D,
  before: MessageShape<D>,
  after: MessageShape<D>,
): Promise<PatchOperation[]> {
  const comparison = new Comparison();
  await comparison.messages(schema, [before, after], "");
  return comparison.operations;
}

class Comparison {
  readonly operations: PatchOperation[] = [];
  readonly #turns: Turns = new Turns();

  async messages(schema: DescMessage, pair: Pair<Message>, path: string): Promise<void> {
    if (!hasLargeParts(schema))
      return this.#json([plainMessage(schema, pair[0]), plainMessage(schema, pair[1])], path);
    for (const field of schema.fields) {
      if (this.#turns.over) await this.#turns.give();
      await this.#field(field, pair, `${path}/${escapeToken(jsonName(field))}`);
    }
  }

  async #field(field: DescField, pair: Pair<Message>, path: string): Promise<void> {
    const [before, after] = pair.map(
      (message) => (message as unknown as Readonly<Record<string, unknown>>)[field.localName],
    );
    if (typeof before === "object" && before === after) return;
    // Whether an empty list or unset message is omitted from the JSON is known only to the writer.
    if (
      field.fieldKind === "list" &&
      field.listKind === "message" &&
      isFilled(before) &&
      isFilled(after) &&
      before.length === after.length
    ) {
      for (const [index, item] of before.entries()) {
        if (this.#turns.over) await this.#turns.give();
        const next = after[index];
        if (next !== undefined && next !== item)
          await this.messages(field.message, [item, next], `${path}/${index}`);
      }
      return;
    }
    if (
      field.fieldKind === "message" &&
      hasLargeParts(field.message) &&
      before !== undefined &&
      after !== undefined
    )
      return this.messages(field.message, [before as Message, after as Message], path);
    const [[old], [current]] = [
      Object.values(plainField(field, pair[0])),
      Object.values(plainField(field, pair[1])),
    ];
    this.#json([old, current], path);
  }

  /** Undefined means the member is absent. */
  #json([before, after]: Pair<unknown>, path: string): void {
    if (before === after) return;
    if (after === undefined) return void this.operations.push({ op: "remove", path });
    if (before === undefined) return void this.operations.push({ op: "add", path, value: after });
    if (
      isFilled(before) &&
      isFilled(after) &&
      before.length === after.length &&
      isObject(before[0])
    ) {
      return before.forEach((item, index) => this.#json([item, after[index]], `${path}/${index}`));
    }
    if (isObject(before) && isObject(after)) {
      for (const name of new Set([...Object.keys(before), ...Object.keys(after)]))
        this.#json([before[name], after[name]], `${path}/${escapeToken(name)}`);
      return;
    }
    if (JSON.stringify(before) !== JSON.stringify(after))
      this.operations.push({ op: "replace", path, value: after });
  }
}

function isFilled(value: unknown): value is readonly Message[] {
  return Array.isArray(value) && value.length > 0;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function escapeToken(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}
