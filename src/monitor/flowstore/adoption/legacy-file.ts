/**
 * Reads the flow database of the predecessor: SQLite, one table `flows`. Nothing is written, and no
 * lock or log file is made beside it.
 */
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { StewardError, toStewardError } from "../../../kernel/base/errors.ts";
import type { StoredFlow } from "../types.ts";

/** Versions of its tables that are known: the second has the identity of its owner. */
const VERSIONS = [1, 2];
const NANOSECONDS = 1_000_000n;

/** Columns and the fields they become. */
const texts = {
  traffic_type: "trafficType",
  transport: "transport",
  src_addr: "srcAddr",
  dst_addr: "dstAddr",
  src_node: "srcNode",
  dst_node: "dstNode",
  dst_port: "dstPort",
  dst_service: "dstService",
  src_user: "srcUser",
  dst_user: "dstUser",
  src_tags: "srcTags",
  dst_tags: "dstTags",
  src_os: "srcOs",
  dst_os: "dstOs",
  reporter_node_id: "reporterNodeId",
  reporter_trust: "reporterTrust",
  reporter_consistency: "reporterConsistency",
  verdict: "verdict",
  policy_version: "policyVersion",
  path: "path",
  derp_region: "derpRegion",
} as const satisfies Record<string, keyof StoredFlow>;
const numbers = {
  rule: "rule",
  tx_bytes: "txBytes",
  rx_bytes: "rxBytes",
  tx_packets: "txPackets",
  rx_packets: "rxPackets",
} as const satisfies Record<string, keyof StoredFlow>;
const columns = ["seq", "time", "reversed", ...Object.keys(texts), ...Object.keys(numbers)];

type Row = Readonly<Record<string, unknown>>;

export interface LegacyFile extends Disposable {
  readonly rows: number;
  /** Of its identity; undefined before the predecessor had one. */
  readonly owner: string | undefined;
  /** By time, with numbers of arrival from 1. */
  flows(): Iterable<StoredFlow>;
}

/** Throws `corrupt` for a file that is no such database, `unsupported` for one of another version. */
export function openLegacyFile(path: string): LegacyFile {
  // `immutable`: nobody writes it, so that neither locks nor a log are needed.
  const url = new URL(`${pathToFileURL(path).href}?mode=ro&immutable=1`);
  const database = readable(path, () => new DatabaseSync(url, { readOnly: true }));
  try {
    return readable(path, () => describe(path, database));
  } catch (error) {
    database.close();
    throw error;
  }
}

function describe(path: string, database: DatabaseSync): LegacyFile {
  const value = (sql: string, name: string): unknown => database.prepare(sql).get()?.[name];
  const version = value("PRAGMA user_version", "user_version");
  const found = database.prepare("PRAGMA table_info(flows)").all();
  const missing = columns.filter((column) => !found.some(({ name }) => name === column));
  if (found.length === 0 || missing.length > 0)
    throw new StewardError(
      "unsupported",
      found.length === 0
        ? `${path} has no table flows`
        : `the table flows of ${path} lacks ${missing.join(", ")}`,
      { remedy: "name the folder of the predecessor's flow database in flows.store.directory" },
    );
  if (!VERSIONS.includes(Number(version)))
    throw new StewardError("unsupported", `${path} has the version ${String(version)}`, {
      remedy: `only the versions ${VERSIONS.join(" and ")} can be adopted`,
    });
  const identity = "SELECT name FROM sqlite_master WHERE name = 'flow_store_identity'";
  const owner =
    value(identity, "name") === undefined
      ? undefined
      : String(value("SELECT network FROM flow_store_identity", "network"));
  return {
    rows: Number(value("SELECT count(*) AS rows FROM flows", "rows")),
    owner,
    *flows() {
      const statement = database.prepare(
        `SELECT ${columns.join(", ")} FROM flows ORDER BY time, seq`,
      );
      statement.setReadBigInts(true);
      let seq = 0;
      for (const row of statement.iterate()) yield flowOf(path, row, (seq += 1));
    },
    [Symbol.dispose]: () => database.close(),
  };
}

function flowOf(path: string, row: Row, seq: number): StoredFlow {
  const flow: Partial<Record<keyof StoredFlow, unknown>> = {
    seq,
    timeMs: Number(integerOf(path, row, "time") / NANOSECONDS),
    reversed: integerOf(path, row, "reversed") !== 0n,
  };
  for (const [column, field] of Object.entries(texts)) flow[field] = textOf(path, row, column);
  for (const [column, field] of Object.entries(numbers))
    flow[field] = Number(integerOf(path, row, column));
  return flow as unknown as StoredFlow;
}

function integerOf(path: string, row: Row, column: string): bigint {
  const { [column]: value } = row;
  if (typeof value !== "bigint") throw wrongType(path, row, column);
  return value;
}

function textOf(path: string, row: Row, column: string): string {
  const { [column]: value } = row;
  if (typeof value === "string") return value;
  if (typeof value === "bigint") return String(value);
  throw wrongType(path, row, column);
}

function wrongType(path: string, row: Row, column: string): StewardError {
  return new StewardError(
    "corrupt",
    `row ${String(row["seq"])} of ${path} has a ${column} of the wrong type`,
    { remedy: "restore the file from a backup, or move it away" },
  );
}

function readable<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof StewardError) throw thrown;
    throw new StewardError(
      "corrupt",
      `${path} cannot be read as a SQLite database: ${toStewardError(thrown).message}`,
      { remedy: "restore the file from a backup, or move it away", cause: thrown },
    );
  }
}
