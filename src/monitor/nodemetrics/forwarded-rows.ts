/**
 * Catalogue rows of forwarded metrics, created on demand since their names are not known in
 * advance. A limit on names bounds the table.
 */
import type { AnyRow, Kind, Row } from "../../kernel/telemetry/types.ts";

const GROUP = "Node metrics";
/** Series of a removed node are dropped after an hour. */
const IDLE_MS = 3_600_000;
/** Distinct label sets per name. */
const MAX_SHAPES = 4;

/** A row whose attributes are unknown at compile time. */
export type ForwardedRow<K extends Kind> = Row<string, K>;

/** One per network. */
export class ForwardedRows {
  readonly #most: number;
  readonly #names = new Map<string, Map<string, AnyRow>>();

  /** `most` names; negative means no limit. */
  constructor(most: number) {
    this.#most = most;
  }

  get size(): number {
    return this.#names.size;
  }

  /** The row of a name with these labels, in their order; undefined beyond the limit. */
  row<K extends "gauge" | "counter">(
    name: string,
    kind: K,
    labels: readonly string[],
  ): ForwardedRow<K> | undefined {
    let shapes = this.#names.get(name);
    if (shapes === undefined) {
      if (this.#most >= 0 && this.#names.size >= this.#most) return undefined;
      shapes = new Map();
      this.#names.set(name, shapes);
    }
    const shape = `${kind} ${labels.join(" ")}`;
    const known = shapes.get(shape);
    if (known !== undefined) return known as ForwardedRow<K>;
    if (shapes.size >= MAX_SHAPES) return undefined;
    const row: AnyRow = {
      name,
      kind,
      unit: "",
      attributes: labels,
      group: GROUP,
      help: "Forwarded from an agent under its own name.",
      bounds: [],
      exemplars: false,
      idleMs: kind === "counter" ? IDLE_MS : undefined,
      verbatim: true,
      when: undefined,
    };
    shapes.set(shape, row);
    return row as ForwardedRow<K>;
  }
}
