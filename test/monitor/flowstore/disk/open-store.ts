/** A store of flows on disk over a clock that moves by hand. */
import { createStateFactory } from "../../../../src/kernel/state/state-factory.ts";
import {
  DiskFlowStore,
  type DiskStoreOptions,
} from "../../../../src/monitor/flowstore/disk/disk-store.ts";
import { openFlows } from "../../../../src/monitor/flowstore/disk/open.ts";
import { createFlowRedaction } from "../../../../src/monitor/flowstore/disk/redact.ts";
import type { PrivacyOptions } from "../../../../src/monitor/options.ts";
import { silent } from "../../../demo/control-plane/support.ts";
import { createManualClock } from "../../../kernel/supervisor/manual-clock.ts";
import { shownPrivacy } from "../sample-flow.ts";

export const HOUR_MS = 3_600_000;

export const diskOptions = (directory: string): DiskStoreOptions => ({
  directory,
  retentionMs: 48 * HOUR_MS,
  maxFutureSkewMs: 60_000,
  maxRows: 1_000_000,
  maxExportRows: 1_000,
  queueSize: 100_000,
  batchSize: 100_000,
  flushIntervalMs: 5_000,
  queryTimeoutMs: 15_000,
  sweepIntervalMs: HOUR_MS,
});

export async function openStore(
  directory: string,
  {
    options = {},
    privacy = shownPrivacy,
    clock = createManualClock(),
    fileBytes,
  }: {
    /** Limit of the file's size; by default room for a million connections. */
    readonly fileBytes?: number;
    readonly options?: Partial<DiskStoreOptions>;
    readonly privacy?: PrivacyOptions;
    readonly clock?: ReturnType<typeof createManualClock>;
  } = {},
) {
  const factory = createStateFactory({ directory, clock, log: silent });
  const opening = { factory, nowMs: clock.now(), maxRows: rowsIn(fileBytes) };
  const { env, blocks } = await openFlows(opening, "lab", new AbortController().signal);
  let seq = blocks.lastSeq;
  const store = new DiskFlowStore(
    {
      clock,
      log: silent,
      nextSeq: () => (seq += 1),
      redact: createFlowRedaction(privacy),
      env,
      blocks,
    },
    "lab",
    { ...diskOptions(directory), ...options },
  );
  return { store, env, blocks, clock };
}

/** Of `flowStoreSpec`; a small file is one of fewer than no rows. */
function rowsIn(fileBytes: number | undefined): number {
  return fileBytes === undefined ? 1_000_000 : (fileBytes - 256 * 2 ** 20) / 256;
}
