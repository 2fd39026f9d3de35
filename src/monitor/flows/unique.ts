/** How many different nodes and ports each node talked to since the last flush. */
import type { Scope } from "../../kernel/telemetry/types.ts";
import { networkUniqueDstPeers, networkUniqueDstPorts } from "../catalogue/flows.ts";
import type { EnrichedFlow } from "./enriched.ts";

/** Sources told apart between two flushes; further ones are not counted. */
export const MOST_SOURCES = 2_000;
/** Peers and ports of one source; it stays at that. */
export const MOST_VALUES = 65_536;
/** Of all sources together, so that none of them can fill the memory. */
export const MOST_VALUES_IN_ALL = 524_288;

interface Met {
  readonly peers: Set<string>;
  readonly ports: Set<number>;
}

/** Counts destinations by source node. */
export class UniqueDestinations {
  readonly #sources = new Map<string, Met>();
  #values = 0;

  add({ connection, source, destination }: EnrichedFlow): void {
    if (source.node === undefined) return;
    const met = this.#metBy(source.node);
    if (met === undefined) return;
    // An end without a face is a relay or nobody, and has no port either.
    if (destination.node === undefined) return;
    this.#put(met.peers, destination.node);
    const port = connection.destination?.port ?? 0;
    if (port > 0) this.#put(met.ports, port);
  }

  /** Says the levels and begins anew: who was not seen since the last flush is not shown. */
  flush(scope: Pick<Scope, "sweep">): void {
    const sweep = scope.sweep("flow-destinations");
    for (const [node, { peers, ports }] of this.#sources) {
      sweep.gauge(networkUniqueDstPeers, peers.size, { "vpn.src.node": node });
      sweep.gauge(networkUniqueDstPorts, ports.size, { "vpn.src.node": node });
    }
    sweep.commit();
    this.#sources.clear();
    this.#values = 0;
  }

  #metBy(node: string): Met | undefined {
    const known = this.#sources.get(node);
    if (known !== undefined || this.#sources.size >= MOST_SOURCES) return known;
    const met: Met = { peers: new Set(), ports: new Set() };
    this.#sources.set(node, met);
    return met;
  }

  #put<T>(values: Set<T>, value: T): void {
    if (values.size >= MOST_VALUES || this.#values >= MOST_VALUES_IN_ALL) return;
    const { size } = values;
    values.add(value);
    this.#values += values.size - size;
  }
}
