/** Distinct nodes and ports that each node talked to since the last flush. */
import type { Scope } from "../../kernel/telemetry/types.ts";
import { networkUniqueDstPeers, networkUniqueDstPorts } from "../catalogue/flows.ts";
import type { EnrichedFlow } from "./enriched.ts";

/** Sources tracked between two flushes; further ones are not counted. */
export const MAX_SOURCES = 2_000;
/** Peers and ports per source; counting stops there. */
const MAX_VALUES = 65_536;
/** Over all sources, to bound memory. */
const MAX_VALUES_IN_ALL = 524_288;

/** Flushes after its last flow for which a source is still shown. */
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

export class UniqueDestinations {
  readonly #sources = new Map<string, Met>();
  /** Values shown, longest silent first; at most MAX_SOURCES. */
  readonly #levels = new Map<string, Level>();
  #values = 0;

  add({ connection, source, destination }: EnrichedFlow): void {
    if (source.node === undefined) return;
    const met = this.#metBy(source.node);
    if (met === undefined) return;
    // An endpoint without a node is a relay or absent, and has no port either.
    if (destination.node === undefined) return;
    this.#put(met.peers, destination.node);
    const port = connection.destination?.port ?? 0;
    if (port > 0) this.#put(met.ports, port);
  }

  /**
   * Writes the gauges and resets. After a flush period without any flow they stay, since records
   * arrive in windows that need not match the flushes; a source that alone had none is 0.
   */
  flush(scope: Pick<Scope, "sweep">): void {
    this.#age();
    for (const [node, { peers, ports }] of this.#sources) {
      this.#levels.delete(node);
      this.#levels.set(node, { peers: peers.size, ports: ports.size, silentFlushes: 0 });
    }
    for (const node of this.#levels.keys()) {
      if (this.#levels.size <= MAX_SOURCES) break;
      this.#levels.delete(node);
    }
    this.#write(scope);
    this.#sources.clear();
    this.#values = 0;
  }

  /** Ends all series, e.g. when nodes are renamed. */
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
    if (known !== undefined || this.#sources.size >= MAX_SOURCES) return known;
    const met: Met = { peers: new Set(), ports: new Set() };
    this.#sources.set(node, met);
    return met;
  }

  #put<T>(values: Set<T>, value: T): void {
    if (values.size >= MAX_VALUES || this.#values >= MAX_VALUES_IN_ALL) return;
    const { size } = values;
    values.add(value);
    this.#values += values.size - size;
  }
}
