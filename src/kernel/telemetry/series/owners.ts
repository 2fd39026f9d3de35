/**
 * Who says which gauges, so that a series leaves when its owner no longer says it. A round stamps
 * its generation on every series it writes; when it is complete, series that still carry an earlier
 * generation were not said again. What a broken round did say is as new as it is: a series leaves
 * then when it alone was not said for too long.
 */
import type { AnyRow, AttributeValue, Sweep, SweepOptions } from "../types.ts";
import type { SeriesTable } from "./series-table.ts";

interface Owner {
  members: number[];
  /** When each generation ended that a member carries. */
  generations: Map<number, number>;
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
export type WriteGauge = (
  row: AnyRow,
  value: number,
  attributes: Readonly<Record<string, AttributeValue | undefined>>,
) => number;

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
      commit: () =>
        owner.open === round ? this.#commit(owner, round) : { kept: 0, added: 0, ended: 0 },
      abandon: () => {
        if (owner.open === round) this.#abandon(owner, round);
      },
    };
  }

  /** Ends the series that were last written in a round that ended too long ago. */
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

  /** What the broken round said, and what it did not come to, each with its own age. */
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
   * Members that the round which just ended did not write. A number that ended meanwhile and is
   * somebody else's carries no generation of the owner's.
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
