/** The flow stores of all networks on disk, in one folder. */
import { errorWithRemedy, toStewardError } from "../../../kernel/base/errors.ts";
import { lockStateDirectory } from "../../../kernel/state/folder/directory-lock.ts";
import { RESERVE_BYTES } from "../../../kernel/state/folder/reserve.ts";
import { createStateFactory } from "../../../kernel/state/state-factory.ts";
import type { PrivacyOptions } from "../../options.ts";
import type { FlowStores, FlowStoresDeps } from "../flow-store.ts";
import { DiskFlowStore, type DiskStoreOptions } from "./disk-store.ts";
import { FLOW_FOLDER } from "./names.ts";
import { assertAdopted, openFlows, type OpenFlows } from "./open.ts";
import { createFlowRedaction } from "./redact.ts";

/**
 * Networks whose file cannot be opened have no store, and their traffic is exported all the same:
 * the log says why.
 */
export async function openDiskStores(
  { clock, log, version }: FlowStoresDeps,
  {
    options,
    privacy,
    names,
  }: {
    readonly options: DiskStoreOptions;
    readonly privacy: PrivacyOptions;
    readonly names: readonly string[];
  },
): Promise<FlowStores> {
  const { directory, retentionMs, maxRows, maxExportRows, queryTimeoutMs } = options;
  const failed = new Map<string, string>();
  const opened = new Map<string, OpenFlows>();
  const fail = (network: string, thrown: unknown): void => {
    const error = toStewardError(thrown);
    failed.set(network, errorWithRemedy(error));
    log.error("flows of this network are not stored", { network, error });
  };
  let lock: ReturnType<typeof lockStateDirectory> | undefined;
  try {
    lock = lockStateDirectory(directory, FLOW_FOLDER);
    const factory = createStateFactory({
      directory,
      clock,
      log,
      version,
      reserveBytes: RESERVE_BYTES,
    });
    for (const network of names)
      try {
        assertAdopted(directory, network);
        const signal = new AbortController().signal;
        const opening = { factory, nowMs: clock.now(), maxRows };
        opened.set(network, await openFlows(opening, network, signal));
      } catch (thrown) {
        fail(network, thrown);
      }
  } catch (thrown) {
    for (const network of names) fail(network, thrown);
  }
  let seq = Math.max(0, ...[...opened.values()].map(({ blocks }) => blocks.lastSeq));
  const nextSeq = (): number => (seq += 1);
  const redact = createFlowRedaction(privacy);
  const stores = new Map(
    [...opened].map(([network, { env, blocks }]) => [
      network,
      new DiskFlowStore({ clock, log, nextSeq, redact, env, blocks }, network, options),
    ]),
  );
  const all = [...stores.values()];
  const failures = [...failed].map(
    ([network, reason]) => `flows of ${network} are not stored: ${reason}`,
  );
  const errors = (): string[] => [
    ...failures,
    ...all.flatMap((store) => store.status().backend.error ?? []),
  ];
  return {
    kind: "lmdb",
    retentionMs,
    maxExportRows,
    queryTimeoutMs,
    all,
    of: (network) => stores.get(network),
    status: () => ({
      kind: "lmdb",
      profile: "lmdb",
      retentionMs,
      maxRecent: maxExportRows,
      estimatedBytes: 0,
      networks: all.map((store) => store.status()),
      errors: errors(),
    }),
    health() {
      const [reason] = errors();
      return reason === undefined ? { ok: true } : { ok: false, reason };
    },
    async close() {
      await Promise.all(all.map((store) => store.close().catch(() => undefined)));
      lock?.release();
    },
  };
}
