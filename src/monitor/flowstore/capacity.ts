/** Limits of the flow store of one network, by profile. */

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
/** Bytes of an entry with one direction and with two, and of a single connection. */
const ENTRY = 96;
const TWO_WAY_ENTRY = 136;
const ROW = 200;

export function flowCapacity(profile: CapacityProfile): FlowCapacity {
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
    recent: standard.recent * factor,
  };
}

/** Memory of one network with every table of every minute full. */
export function estimatedBytes(capacity: FlowCapacity, buckets: number): number {
  const entries =
    capacity.pairs +
    capacity.ports +
    LABEL_TABLES * capacity.labels +
    MATRICES * capacity.cells +
    capacity.peerPaths +
    capacity.unexplained +
    capacity.rules;
  return buckets * (entries * ENTRY + capacity.nodes * TWO_WAY_ENTRY) + capacity.recent * ROW;
}
