/**
 * Serves the documents from memory: put together once for all who ask within a moment, written where the monitor runs, so that the
 * thread which serves others only passes bytes on.
 */
import { promisify } from "node:util";
import { constants, gzip, type ZlibOptions } from "node:zlib";
import { create, type DescMethod } from "@bufbuild/protobuf";
import { ConfigSummarySchema } from "../../gen/steward/monitor/v1/config_summary_pb.ts";
import { CardinalityInfoSchema } from "../../gen/steward/monitor/v1/cardinality_pb.ts";
import { StatusSchema, type Status } from "../../gen/steward/monitor/v1/status_pb.ts";
import { StatusService } from "../../gen/steward/monitor/v1/status_service_pb.ts";
import { delay, type Clock } from "../../kernel/base/clock.ts";
import { bindService, takesGzip, type BoundService, type JsonHandler, type PackedJson } from "../../kernel/service.ts";
import { DocumentWriter, joined } from "./document-writer.ts";
import { createRefreshed } from "./refreshed.ts";

/** A document is at most so old when it is handed out; while it is asked for it is renewed before that, so that nobody waits. */
const RENEW_MS = 200;
const EXPIRE_MS = 500;
/** Smaller documents are not worth packing. */
const PACKED_BYTES = 16_384;
/** Between two documents of a stream, where the house does not say. */
const WATCH_MS = 5_000;

/** What is served. */
export interface StatusApiDeps {
  readonly clock: Clock;
  readonly build: () => Promise<Status>;
}

/** One document with its texts, each made when it is asked for first. */
interface Edition {
  readonly status: Status;
  /** Whether somebody wanted it as text: then the next one is written before it is handed out. */
  written: Promise<Uint8Array> | undefined;
  /** The same, packed. */
  packed: Promise<PackedJson> | undefined;
}

/** The service bound to its handlers. */
export function createStatusApi({ clock, build }: StatusApiDeps): BoundService {
  const writer = new DocumentWriter();
  const text = (edition: Edition): Promise<Uint8Array> => (edition.written ??= writer.write(StatusSchema, edition.status).then(joined));
  const packed = (edition: Edition): Promise<PackedJson> => (edition.packed ??= text(edition).then(pack));
  const editions = createRefreshed<Edition>(clock, { renewMs: RENEW_MS, expireMs: EXPIRE_MS }, async (before) => {
    const edition: Edition = { status: await build(), written: undefined, packed: undefined };
    if (before?.written !== undefined) await text(edition);
    if (before?.packed !== undefined) await packed(edition);
    return edition;
  });
  const status = async (): Promise<Status> => (await editions.get()).status;
  const bound = bindService(StatusService, {
    getStatus: async () => ({ status: await status() }),
    getConfigSummary: async () => ({ config: (await status()).config ?? create(ConfigSummarySchema) }),
    getCardinality: async () => ({ cardinality: (await status()).cardinality ?? create(CardinalityInfoSchema) }),
    async *watchStatus(_request, call) {
      for (;;) {
        call.signal.throwIfAborted();
        const document = await status();
        yield { status: document };
        await delay(clock, document.refreshMs || WATCH_MS, call.signal);
      }
    },
  });
  const json: Readonly<Partial<Record<string, JsonHandler>>> = {
    async getStatus(_request, call) {
      const edition = await editions.get();
      const bytes = await text(edition);
      return bytes.length >= PACKED_BYTES && takesGzip(call) ? await packed(edition) : bytes;
    },
    getConfigSummary: async () => joined(await writer.write(ConfigSummarySchema, (await status()).config ?? create(ConfigSummarySchema))),
    getCardinality: async () => joined(await writer.write(CardinalityInfoSchema, (await status()).cardinality ?? create(CardinalityInfoSchema))),
  };
  return { ...bound, json: (method: DescMethod) => json[method.localName] };
}

/** Packed beside the thread, in memory that all threads see. */
async function pack(bytes: Uint8Array): Promise<PackedJson> {
  return { encoding: "gzip", bytes: joined([await gzipped(bytes, { level: constants.Z_BEST_SPEED })]) };
}

const gzipped: (bytes: Uint8Array, options: ZlibOptions) => Promise<Buffer> = promisify(gzip);
