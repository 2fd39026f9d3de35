/**
 * Handlers of the test services that answer with what they were asked, and a plain route of each
 * kind.
 */
import {
  bindService,
  type BoundService,
  type Call,
  type Handlers,
  type PlainRoute,
} from "../../src/kernel/service.ts";
import { Access } from "../../src/gen/steward/options/v1/options_pb.ts";
import { DedupSampleService } from "../gen/steward/test/v1/dedup_sample_pb.ts";
import { MonitorSampleService } from "../gen/steward/test/v1/monitor_sample_pb.ts";
import { VaultSampleService } from "../gen/steward/test/v1/vault_sample_pb.ts";

type DedupHandlers = Handlers<typeof DedupSampleService.method>;

/** The dedup test service; `overrides` replace single handlers. */
export function dedupService(overrides: Partial<DedupHandlers> = {}): BoundService {
  return bindService(DedupSampleService, {
    listSamples: (request) => ({
      data: [{ text: request.shelfId, smallNumber: request.limit ?? 50 }],
      meta: { total: 1 },
    }),
    getSampleStats: () => ({ data: { text: "stats" } }),
    getSample: (request) => ({ data: { smallNumber: request.number } }),
    createSample: (request) => ({ data: { partName: request.name } }),
    importSample: (request) => ({
      data: { partName: `${request.number} ${request.sample?.text ?? ""} ${request.dryRun}` },
    }),
    exportSample: () => ({ version: "1.0" }),
    async *watchSample() {
      /* ends at once */
    },
    ...overrides,
  });
}

/** The monitor and tokens test services. */
export function otherServices(): BoundService[] {
  return [
    bindService(MonitorSampleService, {
      getMonitorSample: () => ({ schemaVersion: 1 }),
      purgeMonitorSample: () => ({ purged: 3, enabled: true }),
    }),
    bindService(VaultSampleService, {
      getVaultSample: (request) => ({ appName: request.name }),
      getVaultHealth: () => ({ initialized: true }),
      deleteVaultSample: () => ({}),
      listVaultSamples: () => ({ keys: ["a"] }),
    }),
  ];
}

/** A plain route below `/api/v1`. */
export function plainRoute(
  template: string,
  handle: PlainRoute["handle"],
  options: Partial<PlainRoute> = {},
): PlainRoute {
  return { verb: "GET", template, access: Access.PUBLIC, dialect: "dedup", handle, ...options };
}

/** A stream of two chunks that breaks off after the first when told to. */
export async function* twoChunks(call: Call, breaks = false): AsyncGenerator<string> {
  yield "one";
  if (breaks) throw new Error(`secret cause of ${call.requestId}`);
  yield "two";
}
