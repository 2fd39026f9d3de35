/**
 * Serves the status from memory. It is built once for all concurrent callers and serialized in the
 * monitor's thread, so that the gateway's thread only passes bytes on.
 */
import { constants, createGzip } from "node:zlib";
import { create, type DescMessage, type DescMethod, type MessageShape } from "@bufbuild/protobuf";
import { ConfigSummarySchema } from "../../gen/steward/monitor/v1/config_summary_pb.ts";
import { CardinalityInfoSchema } from "../../gen/steward/monitor/v1/cardinality_pb.ts";
import { StatusSchema, type Status } from "../../gen/steward/monitor/v1/status_pb.ts";
import { StatusService } from "../../gen/steward/monitor/v1/status_service_pb.ts";
import { delay, type Clock } from "../../kernel/base/clock.ts";
import { bytesIn } from "../../kernel/base/pieces.ts";
import { acceptsGzip } from "../../kernel/listen/headers/accept-encoding.ts";
import { acceptsManipulation, matchesTag } from "../../kernel/listen/headers/conditional.ts";
import {
  bindService,
  type BoundService,
  type JsonHandler,
  type WrittenJson,
} from "../../kernel/service.ts";
import { patchBetween } from "./document/document-patch.ts";
import { DocumentWriter } from "./document/document-writer.ts";
import { createRefreshed } from "./document/refreshed.ts";
import { shared } from "./document/text-blocks.ts";

/**
 * Renewal age: a status is at most this old when served, and is renewed in advance while requested.
 */
const RENEW_MS = 200;
const EXPIRE_MS = 500;
/** Smaller documents are not compressed. */
const PACKED_BYTES = 16_384;
const PACKED_CHUNK_BYTES = 2 ** 18;
/**
 * Instance manipulation (RFC 3229) for clients that hold an older document: the response is a JSON
 * Patch (RFC 6902).
 */
const PATCH = "json-patch";
const PACKED_PATCH_BYTES = 1_024;
/**
 * Documents kept as bases of patches. Editions are at least `RENEW_MS` apart, so these cover 6 s in
 * the worst case and minutes usually.
 */
const MAX_BASES = 32;
/** Default interval between documents of a stream. */
const WATCH_MS = 5_000;

export interface StatusApiDeps {
  readonly clock: Clock;
  readonly build: () => Promise<Status>;
  /** Replaceable in tests; default gzip. */
  readonly pack?: (text: WrittenJson) => Promise<WrittenJson>;
}

/**
 * A representation of a document, created on first use. If it was used, the next edition's is
 * created in advance.
 */
class Form<T> {
  requested = false;
  readonly #make: () => Promise<T>;
  #made: Promise<T> | undefined;

  constructor(make: () => Promise<T>) {
    this.#make = make;
  }

  /** For a current request. */
  use(): Promise<T> {
    this.requested = true;
    return this.ready();
  }

  /** For later requests. */
  ready(): Promise<T> {
    return (this.#made ??= this.#make());
  }
}

/** One document with its representations. */
interface Edition {
  /**
   * Its entity tag (RFC 9110 §8.8.3), weak because the compressed and plain forms share it. Never
   * reused.
   */
  readonly tag: string;
  readonly status: Status;
  readonly text: Form<WrittenJson>;
  readonly packed: Form<WrittenJson>;
}

export function createStatusApi({ clock, build, pack = gzipAll }: StatusApiDeps): BoundService {
  const writer = new DocumentWriter();
  const written = async <D extends DescMessage>(
    schema: D,
    document: MessageShape<D>,
  ): Promise<WrittenJson> => ({
    encoding: undefined,
    pieces: shared(await writer.write(schema, document)),
  });
  let editionsMade = 0;
  const edition = (document: Status): Edition => {
    const text = new Form(() => written(StatusSchema, document));
    editionsMade += 1;
    return {
      tag: `W/"${clock.now().toString(36)}-${editionsMade}"`,
      status: document,
      text,
      packed: new Form(async () => pack(await text.ready())),
    };
  };
  const editions = createRefreshed<Edition>(
    clock,
    { renewMs: RENEW_MS, expireMs: EXPIRE_MS },
    async (before) => {
      const next = edition(await build());
      if (before?.text.requested === true) await next.text.ready();
      if (before?.packed.requested === true) await next.packed.ready();
      return next;
    },
  );
  const bases = createPatchBases();
  const status = async (): Promise<Status> => (await editions.get()).status;
  const bound = bindService(StatusService, {
    getStatus: async () => ({ status: await status() }),
    getConfigSummary: async () => ({
      config: (await status()).config ?? create(ConfigSummarySchema),
    }),
    getCardinality: async () => ({
      cardinality: (await status()).cardinality ?? create(CardinalityInfoSchema),
    }),
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
      const newest = await editions.get();
      const { tag, text, packed } = newest;
      const known = call.header("if-none-match");
      const headers = {
        etag: tag,
        "cache-control": "private, no-cache",
        vary: "accept-encoding, a-im",
      };
      if (matchesTag(known, tag)) return { status: 304, headers, encoding: undefined, pieces: [] };
      const gzip = acceptsGzip(call.header("accept-encoding"));
      const base = acceptsManipulation(call.header("a-im"), PATCH)
        ? bases.exchange(newest, known)
        : undefined;
      if (base !== undefined) {
        const patch = await patchText(base.status, newest.status);
        const manipulated = {
          ...headers,
          im: PATCH,
          "delta-base": base.tag,
          "cache-control": "no-store",
        };
        return {
          ...(gzip && bytesIn(patch.pieces) >= PACKED_PATCH_BYTES ? await pack(patch) : patch),
          status: 226,
          headers: manipulated,
        };
      }
      if (!gzip) return { ...(await text.use()), headers };
      const plain = await text.ready();
      return { ...(bytesIn(plain.pieces) < PACKED_BYTES ? plain : await packed.use()), headers };
    },
    getConfigSummary: async () =>
      await written(ConfigSummarySchema, (await status()).config ?? create(ConfigSummarySchema)),
    getCardinality: async () =>
      await written(
        CardinalityInfoSchema,
        (await status()).cardinality ?? create(CardinalityInfoSchema),
      ),
  };
  return { ...bound, json: (method: DescMethod) => json[method.localName] };
}

/** Compact, since programs read it. */
async function patchText(before: Status, after: Status): Promise<WrittenJson> {
  const operations = await patchBetween(StatusSchema, before, after);
  return { encoding: undefined, pieces: shared([Buffer.from(`${JSON.stringify(operations)}\n`)]) };
}

/**
 * Base of a patch: the document without its serialized forms, which take megabytes for a large
 * network.
 */
type PatchBase = Pick<Edition, "tag" | "status">;

/** Documents held by clients that accept patches; only the newest, to bound memory. */
function createPatchBases(): {
  exchange(newest: PatchBase, known: string | undefined): PatchBase | undefined;
} {
  const held = new Map<string, PatchBase>();
  return {
    /** Remembers the document that the client will hold, and finds the one it holds now. */
    exchange({ tag, status }, known) {
      held.delete(tag);
      held.set(tag, { tag, status });
      const [oldest] = held.keys();
      if (held.size > MAX_BASES && oldest !== undefined) held.delete(oldest);
      return known === undefined ? undefined : held.get(known);
    },
  };
}

/** Compresses asynchronously, piece by piece. */
function gzipAll({ pieces }: WrittenJson): Promise<WrittenJson> {
  return new Promise((resolve, reject) => {
    const zip = createGzip({ level: constants.Z_BEST_SPEED, chunkSize: PACKED_CHUNK_BYTES });
    const packed: Buffer[] = [];
    zip
      .on("data", (chunk: Buffer) => packed.push(chunk))
      .once("error", reject)
      .once("end", () => resolve({ encoding: "gzip", pieces: shared(packed) }));
    for (const piece of pieces) zip.write(piece);
    zip.end();
  });
}
