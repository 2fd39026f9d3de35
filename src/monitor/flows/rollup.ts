/**
 * Sums traffic between two flushes. A flush emits the busiest keys and one remainder per kind, so
 * that series stay few and totals exact. Keys are numbers composed from ids of interned texts.
 */
import { coarseKind, noEndpointInfo } from "./enriched.ts";
import type { EnrichedFlow, EndpointInfo, FlowKind } from "./enriched.ts";
import type { Counters } from "./record.ts";

/** Node label of a remainder. */
const OTHER = "__other__";
/** Keys held between two flushes; new ones beyond that go to the remainder. */
export const MAX_KEYS = 8_000;
/** Kinds held; beyond that, service and region are dropped. */
const MAX_KINDS = 8_000;
/** Endpoints held: two per key. A kind and an endpoint id together fit into a safe integer. */
const FACES = 16_384;

/** Endpoint dimensions that are kept. */
export interface RollupOptions {
  readonly nodeDims: boolean;
  readonly identityDims: boolean;
  readonly geoDims: boolean;
}

/** Receives a key with its sums, or the remainder of a kind with nodes `__other__`. */
export type EmitSum = (
  kind: FlowKind,
  source: EndpointInfo,
  destination: EndpointInfo,
  sums: Counters,
) => void;

interface Sum {
  readonly kind: FlowKind;
  readonly source: EndpointInfo;
  readonly destination: EndpointInfo;
  txBytes: number;
  rxBytes: number;
  txPackets: number;
  rxPackets: number;
}

/** Sums since the last flush. */
export class FlowRollup {
  readonly #options: RollupOptions;
  readonly #rest: EndpointInfo;
  readonly #kinds = new Map<number, number>();
  readonly #faces = new Map<string, number>();
  readonly #sums = new Map<number, Sum>();
  readonly #rests = new Map<number, Sum>();

  constructor(options: RollupOptions) {
    this.#options = options;
    this.#rest = options.nodeDims ? { ...noEndpointInfo, node: OTHER } : noEndpointInfo;
  }

  get size(): number {
    return this.#sums.size;
  }

  add({ connection, kind, source, destination }: EnrichedFlow): void {
    const sum = this.#find(kind, source, destination) ?? this.#restOf(kind);
    addTo(sum, connection);
  }

  /**
   * Emits the `topN` keys by bytes and the remainders, then resets. The selection does not depend
   * on arrival order.
   */
  flush(topN: number, emit: EmitSum): void {
    const busiest = busiestOf([...this.#sums.values()], topN);
    for (const sum of this.#sums.values()) {
      if (busiest.has(sum)) emit(sum.kind, sum.source, sum.destination, sum);
      else addTo(this.#restOf(sum.kind), sum);
    }
    for (const sum of this.#rests.values()) emit(sum.kind, sum.source, sum.destination, sum);
    for (const table of [this.#sums, this.#rests, this.#kinds, this.#faces]) table.clear();
  }

  /** The sum of a key, created if there is capacity. */
  #find(kind: FlowKind, source: EndpointInfo, destination: EndpointInfo): Sum | undefined {
    const full = this.#sums.size >= MAX_KEYS;
    const kindNumber = numberOf(this.#kinds, kind.code, full ? 0 : MAX_KINDS);
    const sourceNumber = numberOf(this.#faces, this.#keyOf(source), full ? 0 : FACES);
    const destinationNumber = numberOf(this.#faces, this.#keyOf(destination), full ? 0 : FACES);
    if (kindNumber === undefined || sourceNumber === undefined || destinationNumber === undefined)
      return undefined;
    const key = (kindNumber * FACES + sourceNumber) * FACES + destinationNumber;
    const known = this.#sums.get(key);
    if (known !== undefined || full) return known;
    const sum = {
      kind,
      source: this.#shown(source),
      destination: this.#shown(destination),
      ...nothing,
    };
    this.#sums.set(key, sum);
    return sum;
  }

  #restOf(kind: FlowKind): Sum {
    const known = this.#rests.get(kind.code);
    if (known !== undefined) return known;
    // Without service and region there are few kinds, so the recursion ends.
    if (this.#rests.size >= MAX_KINDS && (kind.service !== undefined || kind.region !== undefined))
      return this.#restOf(coarseKind(kind));
    const sum = { kind, source: this.#rest, destination: this.#rest, ...nothing };
    this.#rests.set(kind.code, sum);
    return sum;
  }

  #keyOf({ node = "", user = "", tags = "", os = "", place }: EndpointInfo): string {
    const { nodeDims, identityDims, geoDims } = this.#options;
    const where =
      geoDims && place !== undefined ? `\n${place.country ?? ""}\0${place.continent ?? ""}` : "";
    if (!nodeDims) return where;
    return `${identityDims ? `${node}\0${user}\0${tags}\0${os}` : node}${where}`;
  }

  #shown(face: EndpointInfo): EndpointInfo {
    const { nodeDims, identityDims, geoDims } = this.#options;
    const place = geoDims ? face.place : undefined;
    if (nodeDims && identityDims) return { ...face, place };
    return { ...noEndpointInfo, node: nodeDims ? face.node : undefined, place };
  }
}

const nothing = { txBytes: 0, rxBytes: 0, txPackets: 0, rxPackets: 0 } as const;

function numberOf<K>(numbers: Map<K, number>, key: K, limit: number): number | undefined {
  const known = numbers.get(key);
  if (known !== undefined || numbers.size >= limit) return known;
  numbers.set(key, numbers.size);
  return numbers.size - 1;
}

function addTo(sum: Sum, { txBytes, rxBytes, txPackets, rxPackets }: Counters): void {
  sum.txBytes += txBytes;
  sum.rxBytes += rxBytes;
  sum.txPackets += txPackets;
  sum.rxPackets += rxPackets;
}

/**
 * The sums with the most bytes; ties are ordered by fields, so the selection is deterministic.
 * Sorts only numbers, plus the ties at the cut.
 */
function busiestOf(sums: readonly Sum[], topN: number): ReadonlySet<Sum> {
  if (sums.length <= topN) return new Set(sums);
  const edge = Float64Array.from(sums, bytesOf).sort().at(-topN);
  if (topN <= 0 || edge === undefined) return new Set();
  const above = sums.filter((sum) => bytesOf(sum) > edge);
  const atEdge = sums
    .filter((sum) => bytesOf(sum) === edge)
    .map((sum) => [textOf(sum), sum] as const)
    .sort(([left], [right]) => (left < right ? -1 : 1));
  return new Set([...above, ...atEdge.slice(0, topN - above.length).map(([, sum]) => sum)]);
}

function bytesOf({ txBytes, rxBytes }: Counters): number {
  return txBytes + rxBytes;
}

function textOf({ kind, source, destination }: Sum): string {
  const fields = [
    kind.transport,
    kind.type,
    kind.service,
    kind.path,
    kind.region,
    source.node,
    source.user,
    source.tags,
    source.os,
    source.place?.country,
    source.place?.continent,
    destination.node,
    destination.user,
    destination.tags,
    destination.os,
    destination.place?.country,
    destination.place?.continent,
  ];
  return fields.map((field) => field ?? "").join("\0");
}
