/**
 * Metrics of agents under their own names: rows that are made as samples come, since nobody
 * declared them. A budget of names keeps an agent that invents names from filling the table of
 * rows.
 */
import type { AnyRow, Kind, Row } from "../../kernel/telemetry/types.ts";

const GROUP = "Node metrics";
/** Sums of a node that is gone leave after an hour. */
const IDLE_MS = 3_600_000;
/** Different sets of labels of one name. */
const MOST_SHAPES = 4;

/** A row whose attributes are not known to the compiler. */
export type ForwardedRow<K extends Kind> = Row<string, K>;

/** The rows of one network. */
export class ForwardedRows {
  readonly #most: number;
  readonly #names = new Map<string, Map<string, AnyRow>>();

  /** `most` names; negative is no limit. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Names there are. */
  get size(): number {
    return this.#names.size;
  }

  /** The row of a name with these labels, in their order; undefined beyond the budget. */
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
    if (shapes.size >= MOST_SHAPES) return undefined;
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
