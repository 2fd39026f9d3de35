/**
 * Who says which gauges, so that a series leaves when its owner no longer says it. A round stamps its generation on every
 * series it writes; at the end, series that still carry the generation of the round before were not said again.
 */
import type { AnyRow, AttributeValue, Sweep, SweepOptions } from "../types.ts";
import type { SeriesTable } from "./series-table.ts";

interface Owner {
  generation: number;
  members: number[];
  committedAtMs: number;
  staleMs: number;
  open: Round | undefined;
}

interface Round {
  readonly generation: number;
  /** Series written for the first time in this round. */
  readonly touched: number[];
  /** Of these, how many the owner had before. */
  kept: number;
}

/** Sets a gauge; the number of its series, below 0 when it has none. */
export type WriteGauge = (row: AnyRow, value: number, attributes: Readonly<Record<string, AttributeValue | undefined>>) => number;

/** The owners of a scope. */
export class Owners {
  readonly #table: SeriesTable;
  readonly #write: WriteGauge;
  readonly #monotonic: () => number;
  readonly #owners = new Map<string, Owner>();
  #generation = 0;

  constructor(table: SeriesTable, write: WriteGauge, monotonic: () => number) {
    this.#table = table;
    this.#write = write;
    this.#monotonic = monotonic;
  }

  sweep(name: string, options: SweepOptions): Sweep {
    const owner = this.#owner(name, options.staleMs ?? Number.POSITIVE_INFINITY);
    if (owner.open) this.#abandon(owner, owner.open);
    this.#generation += 1;
    const round: Round = { generation: this.#generation, touched: [], kept: 0 };
    owner.open = round;
    return {
      gauge: (row, value, attributes) => {
        const number = this.#write(row, value, attributes);
        if (number >= 0 && owner.open === round) this.#touch(owner, round, number);
      },
      commit: () => (owner.open === round ? this.#commit(owner, round) : { kept: 0, added: 0, ended: 0 }),
      abandon: () => {
        if (owner.open === round) this.#abandon(owner, round);
      },
    };
  }

  /** Ends the series of owners whose last complete round is too old. */
  endStale(): void {
    const now = this.#monotonic();
    for (const owner of this.#owners.values()) {
      if (now - owner.committedAtMs <= owner.staleMs) continue;
      this.#endMembers(owner, owner.generation);
      owner.members = [];
    }
  }

  #owner(name: string, staleMs: number): Owner {
    const known = this.#owners.get(name);
    if (known) {
      known.staleMs = staleMs;
      return known;
    }
    const owner: Owner = { generation: 0, members: [], committedAtMs: this.#monotonic(), staleMs, open: undefined };
    this.#owners.set(name, owner);
    return owner;
  }

  #touch(owner: Owner, round: Round, number: number): void {
    const { mark } = this.#table.columns;
    if (mark[number] === round.generation) return;
    if (mark[number] === owner.generation && owner.generation > 0) round.kept += 1;
    mark[number] = round.generation;
    round.touched.push(number);
  }

  #commit(owner: Owner, round: Round): ReturnType<Sweep["commit"]> {
    owner.open = undefined;
    const ended = this.#endMembers(owner, owner.generation);
    owner.generation = round.generation;
    owner.members = round.touched;
    owner.committedAtMs = this.#monotonic();
    return { kept: round.kept, added: round.touched.length - round.kept, ended };
  }

  /** Old members and those of the broken round stay together, under the broken round's generation. */
  #abandon(owner: Owner, round: Round): void {
    owner.open = undefined;
    const { mark } = this.#table.columns;
    for (const number of owner.members) {
      if (mark[number] !== owner.generation || !this.#isGauge(number)) continue;
      mark[number] = round.generation;
      round.touched.push(number);
    }
    owner.members = round.touched;
    owner.generation = round.generation;
    this.endStale();
  }

  #endMembers(owner: Owner, generation: number): number {
    let ended = 0;
    for (const number of owner.members) {
      if (this.#table.columns.mark[number] !== generation || !this.#isGauge(number)) continue;
      this.#table.end(number);
      ended += 1;
    }
    return ended;
  }

  #isGauge(number: number): boolean {
    return this.#table.rowOf(number)?.kind === "gauge";
  }
}
