/**
 * Series of flows that were written before the devices of the network were known: their names are
 * guesses, such as `unverified:<host>` or a node id. They end once the devices are known, and are
 * counted anew under their right names.
 */
import type { AnyRow, Row, Scope, Values } from "../../kernel/telemetry/types.ts";
import {
  exitNodeIo,
  exitNodePackets,
  networkIo,
  networkIoRollup,
  networkPackets,
  networkPacketsRollup,
} from "../catalogue/flows.ts";

/** Rows that name nodes. */
const NAMED: ReadonlySet<AnyRow> = new Set<AnyRow>([
  networkIo,
  networkPackets,
  networkIoRollup,
  networkPacketsRollup,
  exitNodeIo,
  exitNodePackets,
]);
/**
 * Series that are remembered; more than a scope keeps of one metric unless it is told otherwise.
 */
const MAX_SERIES = 65_536;

/** Writes into a scope, and remembers what it wrote while that is awaited. */
export class EarlySeries implements Pick<Scope, "add"> {
  readonly #scope: Pick<Scope, "add" | "end">;
  #early: Map<string, () => void> | undefined;

  /** `awaited`: whether devices will be known at some time. */
  constructor(scope: Pick<Scope, "add" | "end">, { awaited }: { readonly awaited: boolean }) {
    this.#scope = scope;
    this.#early = awaited ? new Map() : undefined;
  }

  /** Whether series may have to be ended. */
  get remembers(): boolean {
    return this.#early !== undefined;
  }

  add<A extends string>(
    row: Row<A, "counter" | "updown">,
    delta: number,
    attributes: Values<NoInfer<A>>,
  ): void {
    this.#scope.add(row, delta, attributes);
    if (this.#early === undefined || this.#early.size >= MAX_SERIES || !NAMED.has(row)) return;
    this.#early.set(`${row.name} ${JSON.stringify(attributes)}`, () =>
      this.#scope.end(row, attributes),
    );
  }

  /** Ends them, and remembers nothing any more. */
  end(): void {
    for (const end of this.#early?.values() ?? []) end();
    this.#early = undefined;
  }
}
