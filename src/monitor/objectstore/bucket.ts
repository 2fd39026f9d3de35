/**
 * An S3-compatible bucket, as far as a feed needs one: lists and reads. Loaded when it is first
 * used.
 */
import type { Readable } from "node:stream";
import type { S3Client } from "@aws-sdk/client-s3";
import { StewardError } from "../../kernel/base/errors.ts";
import { classifyStatus, failed, systemOf } from "../../kernel/client/failure.ts";
import { receiveSecret } from "../../kernel/threads/secrets.ts";
import type { ObjectStoreOptions } from "../options.ts";

/** A page of names, in the order of the names. */
interface BucketPage {
  readonly keys: readonly string[];
  /** There are more after the last one. */
  readonly more: boolean;
}

/** Lists and reads. Rejects with a client's failure, or the signal's reason. */
export interface Bucket {
  list(prefix: string, after: string, most: number, signal: AbortSignal): Promise<BucketPage>;
  /** The bytes as they are stored. */
  read(key: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  close(): void;
}

const ATTEMPTS = 3;
const CONNECT_MS = 5_000;
const REQUEST_MS = 30_000;

/** The bucket of the options, nothing asked yet. */
export function createBucket(options: ObjectStoreOptions): Bucket {
  let client: Promise<S3Client> | undefined;
  const open = (): Promise<S3Client> => (client ??= openClient(options));
  return {
    async list(prefix, after, most, signal) {
      const { ListObjectsV2Command } = await import("@aws-sdk/client-s3");
      const answer = await asked(options, "list", signal, async () =>
        (await open()).send(
          new ListObjectsV2Command({
            Bucket: options.bucket,
            Prefix: prefix,
            MaxKeys: most,
            ...(after === "" ? {} : { StartAfter: after }),
          }),
          { abortSignal: signal },
        ),
      );
      // The library takes any document for an empty list, also the page of a proxy.
      if (
        answer.Name === undefined &&
        answer.IsTruncated === undefined &&
        answer.KeyCount === undefined
      )
        throw failed(
          { class: "decode", status: 200 },
          "list: the response is not a bucket listing",
        );
      return {
        keys: (answer.Contents ?? []).flatMap(({ Key }) => Key ?? []),
        more: answer.IsTruncated === true,
      };
    },
    async read(key, signal) {
      const { GetObjectCommand } = await import("@aws-sdk/client-s3");
      const answer = await asked(options, "get", signal, async () =>
        (await open()).send(new GetObjectCommand({ Bucket: options.bucket, Key: key }), {
          abortSignal: signal,
        }),
      );
      if (answer.Body === undefined)
        throw failed({ class: "decode", status: 200 }, "an object without a body");
      return answer.Body as Readable;
    },
    close() {
      void client?.then(
        (opened) => opened.destroy(),
        () => undefined,
      );
    },
  };
}

async function openClient(options: ObjectStoreOptions): Promise<S3Client> {
  const { S3Client: Client } = await import("@aws-sdk/client-s3");
  const { credentials } = options;
  return new Client({
    region: options.region,
    endpoint: options.endpoint,
    forcePathStyle: options.pathStyle,
    maxAttempts: ATTEMPTS,
    // Other stores than Amazon's do not know the newer checksums.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    requestHandler: { connectionTimeout: CONNECT_MS, requestTimeout: REQUEST_MS },
    ...(credentials === undefined
      ? {}
      : {
          credentials: {
            accessKeyId: receiveSecret(credentials.accessKeyId).use((value) => value),
            secretAccessKey: receiveSecret(credentials.secretAccessKey).use((value) => value),
            ...(credentials.sessionToken === undefined
              ? {}
              : { sessionToken: receiveSecret(credentials.sessionToken).use((value) => value) }),
          },
        }),
  });
}

/**
 * What the library throws becomes a failure. Its words are not kept where the store answered: they
 * are the store's, and may repeat what it was sent. Its names do not.
 */
async function asked<T>(
  { endpoint }: ObjectStoreOptions,
  operation: string,
  signal: AbortSignal,
  ask: () => Promise<T>,
): Promise<T> {
  try {
    return await ask();
  } catch (thrown) {
    signal.throwIfAborted();
    if (thrown instanceof StewardError) throw thrown;
    const { name, $metadata } = thrown as {
      readonly name?: unknown;
      readonly $metadata?: { readonly httpStatusCode?: number };
    };
    const status = $metadata?.httpStatusCode ?? 0;
    const what =
      typeof name === "string" && /^\w{1,60}$/.test(name) ? `${operation}: ${name}` : operation;
    const at = {
      operation,
      status,
      ...(URL.canParse(endpoint) ? { url: endpoint } : {}),
      ...(status === 0 ? systemOf(thrown) : {}),
    };
    if (name === "CredentialsProviderError")
      throw failed(
        { ...at, class: "auth", status: 401 },
        `${operation}: no credentials were found`,
        thrown,
      );
    if (status === 0)
      throw failed(
        { ...at, class: name === "TimeoutError" ? "timeout" : "transport" },
        what,
        thrown,
      );
    if (status >= 200 && status < 300)
      throw failed({ ...at, class: name === "TimeoutError" ? "timeout" : "decode" }, what);
    throw failed({ ...at, class: classifyStatus(status, {}) }, what);
  }
}
