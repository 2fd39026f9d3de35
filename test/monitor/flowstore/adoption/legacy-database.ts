/** Makes a flow database as the predecessor left it. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { legacyFileName } from "../../../../src/monitor/flowstore/disk/names.ts";

const TEXTS =
  "traffic_type transport src_addr dst_addr src_node dst_node dst_port dst_service src_user dst_user src_tags dst_tags src_os dst_os reporter_node_id reporter_trust reporter_consistency verdict policy_version path derp_region".split(
    " ",
  );

/** Rows before `nowMs`, one a second unless told; the path of the file. */
export function legacyDatabase(
  directory: string,
  {
    network = "lab",
    rows = 10,
    nowMs = Date.now(),
    everyMs = 1_000,
    varied = false,
    version = 1,
    owner,
  }: {
    readonly network?: string;
    readonly rows?: number;
    readonly nowMs?: number;
    readonly everyMs?: number;
    /** Addresses and counters that a compressor makes little of. */
    readonly varied?: boolean;
    readonly version?: number;
    readonly owner?: string;
  } = {},
): string {
  const path = join(directory, legacyFileName(network));
  const database = new DatabaseSync(path);
  database.exec(`
    PRAGMA journal_mode = WAL;
    CREATE TABLE flows (
      seq INTEGER PRIMARY KEY AUTOINCREMENT,
      time INTEGER NOT NULL,
      ${TEXTS.map((name) => `${name} TEXT NOT NULL DEFAULT ''`).join(", ")},
      reversed INTEGER NOT NULL DEFAULT 0,
      rule INTEGER NOT NULL DEFAULT -1,
      tx_bytes INTEGER NOT NULL DEFAULT 0, rx_bytes INTEGER NOT NULL DEFAULT 0,
      tx_packets INTEGER NOT NULL DEFAULT 0, rx_packets INTEGER NOT NULL DEFAULT 0,
      flows INTEGER NOT NULL DEFAULT 1
    );
    CREATE INDEX flows_time_seq ON flows (time DESC, seq DESC);
    PRAGMA user_version = ${version};
  `);
  if (owner !== undefined) {
    database.exec(
      "CREATE TABLE flow_store_identity (id INTEGER PRIMARY KEY, network TEXT, schema INTEGER, created INTEGER)",
    );
    database.prepare("INSERT INTO flow_store_identity VALUES (1, ?, 2, 0)").run(owner);
  }
  const insert = database.prepare(
    "INSERT INTO flows (time, traffic_type, transport, src_node, dst_node, src_user, reversed, rule, tx_bytes) VALUES (?, 'virtual', 'tcp', ?, 'beta', 'ada@corp.test', ?, ?, ?)",
  );
  database.exec("BEGIN");
  for (let row = 0; row < rows; row += 1)
    insert.run(
      BigInt(nowMs - row * everyMs) * 1_000_000n + 123n,
      `n${row}`,
      row % 2,
      row - 1,
      row * 10,
    );
  if (varied)
    database.exec(
      `UPDATE flows SET src_addr = hex(randomblob(4)), dst_addr = hex(randomblob(4)),
         dst_port = abs(random() % 65536), tx_bytes = abs(random() % 1000000),
         rx_bytes = abs(random() % 1000000), tx_packets = abs(random() % 1000)`,
    );
  database.exec("COMMIT");
  // The log is written back and removed.
  database.close();
  return path;
}
