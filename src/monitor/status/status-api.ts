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
import { acceptsGzip } from "../../kernel/listen/accept-encoding.ts";
import { bindService, type BoundService, type JsonHandler, type PackedJson } from "../../kernel/service.ts";
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
  /** For tests that count; gzip when not given. */
  readonly pack?: (bytes: Uint8Array) => Promise<PackedJson>;
}

/** A form of a document that is made when it is needed first, and whether somebody asked for it: then the next one is made ahead. */
class Form<T> {
  asked = false;
  readonly #make: () => Promise<T>;
  #made: Promise<T> | undefined;

  constructor(make: () => Promise<T>) {
    this.#make = make;
  }

  /** For the one who asked. */
  ask(): Promise<T> {
    this.asked = true;
    return this.ready();
  }

  /** For whoever comes later. */
  ready(): Promise<T> {
    return (this.#made ??= this.#make());
  }
}

/** One document with its texts. */
interface Edition {
  readonly status: Status;
  readonly text: Form<Uint8Array>;
  readonly packed: Form<PackedJson>;
}

/** The service bound to its handlers. */
export function createStatusApi({ clock, build, pack = gzipAll }: StatusApiDeps): BoundService {
  const writer = new DocumentWriter();
  const edition = (document: Status): Edition => {
    const text = new Form(async () => joined(await writer.write(StatusSchema, document)));
    return { status: document, text, packed: new Form(async () => pack(await text.ready())) };
  };
  const editions = createRefreshed<Edition>(clock, { renewMs: RENEW_MS, expireMs: EXPIRE_MS }, async (before) => {
    const next = edition(await build());
    if (before?.text.asked === true) await next.text.ready();
    if (before?.packed.asked === true) await next.packed.ready();
    return next;
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
      const { text, packed } = await editions.get();
      if (!acceptsGzip(call.header("accept-encoding"))) return await text.ask();
      const bytes = await text.ready();
      return bytes.length < PACKED_BYTES ? bytes : await packed.ask();
    },
    getConfigSummary: async () => joined(await writer.write(ConfigSummarySchema, (await status()).config ?? create(ConfigSummarySchema))),
    getCardinality: async () => joined(await writer.write(CardinalityInfoSchema, (await status()).cardinality ?? create(CardinalityInfoSchema))),
  };
  return { ...bound, json: (method: DescMethod) => json[method.localName] };
}

/** Packed beside the thread, in memory that all threads see. */
async function gzipAll(bytes: Uint8Array): Promise<PackedJson> {
  return { encoding: "gzip", bytes: joined([await gzipped(bytes, { level: constants.Z_BEST_SPEED })]) };
}

const gzipped: (bytes: Uint8Array, options: ZlibOptions) => Promise<Buffer> = promisify(gzip);
