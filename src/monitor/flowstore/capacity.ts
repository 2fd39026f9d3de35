/** Limits of the flow stores: of one network, by profile, and of all networks together. */

export type CapacityProfile = "compact" | "default" | "expanded";

/** Entries of each table of a minute, and single connections kept. */
export interface FlowCapacity {
  readonly pairs: number;
  readonly nodes: number;
  readonly ports: number;
  /** Of each kind of label. */
  readonly labels: number;
  /** Of each matrix. */
  readonly cells: number;
  readonly peerPaths: number;
  readonly unexplained: number;
  readonly rules: number;
  readonly recent: number;
}

const standard: FlowCapacity = {
  pairs: 4_000,
  nodes: 2_000,
  ports: 2_000,
  labels: 500,
  cells: 2_000,
  peerPaths: 2_000,
  unexplained: 500,
  rules: 1_000,
  recent: 2_000,
};
const factors: Readonly<Record<CapacityProfile, number>> = {
  compact: 0.5,
  default: 1,
  expanded: 2,
};

const LABEL_TABLES = 8;
const MATRICES = 3;
/** Bytes of an entry and of a single connection, as measured. */
const ENTRY = 410;
const ROW = 730;
/** Twice as many single connections are held until they are sorted. */
const UNSORTED = 2;
/**
 * Entries of all minutes of all networks: 200 MiB, two fifths of the heap of the monitor's thread.
 */
export const MAX_ENTRIES = 500_000;
/** Single connections of all networks: 80 MiB while unsorted. */
const MAX_RECENT = 60_000;

/** The limits of each of so many networks. */
export function flowCapacity(profile: CapacityProfile, networks = 1): FlowCapacity {
  const factor = factors[profile];
  return {
    pairs: standard.pairs * factor,
    nodes: standard.nodes * factor,
    ports: standard.ports * factor,
    labels: standard.labels * factor,
    cells: standard.cells * factor,
    peerPaths: standard.peerPaths * factor,
    unexplained: standard.unexplained * factor,
    rules: standard.rules * factor,
    recent: Math.min(standard.recent * factor, Math.floor(MAX_RECENT / networks)),
  };
}

/** Memory of one network with every table of every minute full, as far as they may be. */
export function estimatedBytes(capacity: FlowCapacity, buckets: number): number {
  const entries =
    capacity.pairs +
    capacity.nodes +
    capacity.ports +
    LABEL_TABLES * capacity.labels +
    MATRICES * capacity.cells +
    capacity.peerPaths +
    capacity.unexplained +
    capacity.rules;
  return Math.min(buckets * entries, MAX_ENTRIES) * ENTRY + UNSORTED * capacity.recent * ROW;
}
