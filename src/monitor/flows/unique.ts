/** How many different nodes and ports each node talked to since the last flush. */
import type { Scope } from "../../kernel/telemetry/types.ts";
import { networkUniqueDstPeers, networkUniqueDstPorts } from "../catalogue/flows.ts";
import type { EnrichedFlow } from "./enriched.ts";

/** Sources told apart between two flushes; further ones are not counted. */
export const MOST_SOURCES = 2_000;
/** Peers and ports of one source; it stays at that. */
const MOST_VALUES = 65_536;
/** Of all sources together, so that none of them can fill the memory. */
const MOST_VALUES_IN_ALL = 524_288;

/** A source is shown for so many flushes after its last flow. */
export const SILENT_FLUSHES = 60;

interface Level {
  peers: number;
  ports: number;
  silentFlushes: number;
}

interface Met {
  readonly peers: Set<string>;
  readonly ports: Set<number>;
}

/** Counts destinations by source node. */
export class UniqueDestinations {
  readonly #sources = new Map<string, Met>();
  /** What is shown; the longest silent first. At most MOST_SOURCES. */
  readonly #levels = new Map<string, Level>();
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

  /**
   * Writes the levels and counts from 0 again. Without any flow since the last flush they stay as
   * they are, since records come in windows that need not match the flushes; a source that alone
   * had none is 0.
   */
  flush(scope: Pick<Scope, "sweep">): void {
    this.#age();
    for (const [node, { peers, ports }] of this.#sources) {
      this.#levels.delete(node);
      this.#levels.set(node, { peers: peers.size, ports: ports.size, silentFlushes: 0 });
    }
    for (const node of this.#levels.keys()) {
      if (this.#levels.size <= MOST_SOURCES) break;
      this.#levels.delete(node);
    }
    this.#write(scope);
    this.#sources.clear();
    this.#values = 0;
  }

  /** Shows nothing any more, e.g. when the nodes get other names. */
  end(scope: Pick<Scope, "sweep">): void {
    this.#sources.clear();
    this.#levels.clear();
    this.#values = 0;
    this.#write(scope);
  }

  #age(): void {
    const isQuiet = this.#sources.size === 0;
    for (const [node, level] of this.#levels) {
      level.silentFlushes += 1;
      if (!isQuiet) level.peers = level.ports = 0;
      if (level.silentFlushes > SILENT_FLUSHES) this.#levels.delete(node);
    }
  }

  #write(scope: Pick<Scope, "sweep">): void {
    const sweep = scope.sweep("flow-destinations");
    for (const [node, { peers, ports }] of this.#levels) {
      sweep.gauge(networkUniqueDstPeers, peers, { "vpn.src.node": node });
      sweep.gauge(networkUniqueDstPorts, ports, { "vpn.src.node": node });
    }
    sweep.commit();
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
