/**
 * Tracks which owner writes which gauges, so that a series ends when its owner no longer reports
 * it. A round stamps its generation on every series it writes; committing it ends the owner's
 * series with an earlier generation. After an abandoned round a series ends only when it has not
 * been written for `staleMs`.
 */
import type { AnyRow, AttributeValue, Sweep, SweepOptions } from "../types.ts";
import type { SeriesTable } from "./series-table.ts";

interface Owner {
  members: number[];
  /** When each generation that a member still carries ended. */
  generations: Map<number, number>;
  staleMs: number;
  open: Round | undefined;
}

interface Round {
  readonly generation: number;
  /** Series written for the first time in this round. */
  readonly touched: number[];
  /** Number of series of this round that the owner already had. */
  kept: number;
}

/** Sets a gauge; returns its series number, negative when it has none. */
export type WriteGauge = (
  row: AnyRow,
  value: number,
  attributes: Readonly<Record<string, AttributeValue | undefined>>,
) => number;

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
      commit: () =>
        owner.open === round ? this.#commit(owner, round) : { kept: 0, added: 0, ended: 0 },
      abandon: () => {
        if (owner.open === round) this.#abandon(owner, round);
      },
    };
  }

  /** Ends the series whose last round ended too long ago. */
  endStale(): void {
    const now = this.#monotonic();
    for (const owner of this.#owners.values()) {
      const stale = new Set(
        Array.from(owner.generations).flatMap(([generation, endedAtMs]) =>
          now - endedAtMs > owner.staleMs ? [generation] : [],
        ),
      );
      if (stale.size === 0) continue;
      const isStale = (number: number): boolean => stale.has(this.#table.columns.mark[number] ?? 0);
      const { members } = owner;
      owner.members = members.filter((number) => !isStale(number));
      this.#end(members.filter(isStale));
      for (const generation of stale) owner.generations.delete(generation);
    }
  }

  #owner(name: string, staleMs: number): Owner {
    const known = this.#owners.get(name);
    if (known) {
      known.staleMs = staleMs;
      return known;
    }
    const owner: Owner = { members: [], generations: new Map(), staleMs, open: undefined };
    this.#owners.set(name, owner);
    return owner;
  }

  #touch(owner: Owner, round: Round, number: number): void {
    const { mark } = this.#table.columns;
    if (mark[number] === round.generation) return;
    if (owner.generations.has(mark[number] ?? 0)) round.kept += 1;
    mark[number] = round.generation;
    round.touched.push(number);
  }

  #commit(owner: Owner, round: Round): ReturnType<Sweep["commit"]> {
    owner.open = undefined;
    const ended = this.#end(this.#unsaid(owner));
    owner.members = round.touched;
    owner.generations = new Map([[round.generation, this.#monotonic()]]);
    return { kept: round.kept, added: round.touched.length - round.kept, ended };
  }

  /** Series written by the abandoned round and those it did not reach each keep their own age. */
  #abandon(owner: Owner, round: Round): void {
    owner.open = undefined;
    const unsaid = this.#unsaid(owner);
    const carried = new Set(unsaid.map((number) => this.#table.columns.mark[number]));
    owner.members = [...round.touched, ...unsaid];
    owner.generations = new Map([
      ...Array.from(owner.generations).filter(([generation]) => carried.has(generation)),
      [round.generation, this.#monotonic()],
    ]);
    this.endStale();
  }

  /**
   * Members that the finished round did not write. A number that was ended and reused meanwhile
   * carries no generation of this owner.
   */
  #unsaid(owner: Owner): number[] {
    const { mark } = this.#table.columns;
    return owner.members.filter(
      (number) => owner.generations.has(mark[number] ?? 0) && this.#isGauge(number),
    );
  }

  #end(numbers: readonly number[]): number {
    const gauges = numbers.filter((number) => this.#isGauge(number));
    for (const number of gauges) this.#table.end(number);
    return gauges.length;
  }

  #isGauge(number: number): boolean {
    return this.#table.rowOf(number)?.kind === "gauge";
  }
}
