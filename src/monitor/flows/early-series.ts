/**
 * Flow series written before the devices are known carry provisional names, such as
 * `unverified:<host>` or a node id. They end once devices are known, and counting restarts under
 * the final names.
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

/** Metrics with node names. */
const NAMED: ReadonlySet<AnyRow> = new Set<AnyRow>([
  networkIo,
  networkPackets,
  networkIoRollup,
  networkPacketsRollup,
  exitNodeIo,
  exitNodePackets,
]);
/** Series remembered; above the default series limit of a metric. */
const MAX_SERIES = 65_536;

/** Passes writes on to a scope and remembers their series until devices are known. */
export class EarlySeries implements Pick<Scope, "add"> {
  readonly #scope: Pick<Scope, "add" | "end">;
  #early: Map<string, () => void> | undefined;

  /** `awaited`: whether devices will become known. */
  constructor(scope: Pick<Scope, "add" | "end">, { awaited }: { readonly awaited: boolean }) {
    this.#scope = scope;
    this.#early = awaited ? new Map() : undefined;
  }

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

  /** Ends the remembered series. */
  end(): void {
    for (const end of this.#early?.values() ?? []) end();
    this.#early = undefined;
  }
}
