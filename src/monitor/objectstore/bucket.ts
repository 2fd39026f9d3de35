/** Client of an S3-compatible bucket: list and read. Loaded on first use. */
import type { Readable } from "node:stream";
import type { S3Client } from "@aws-sdk/client-s3";
import { StewardError } from "../../kernel/base/errors.ts";
import { classifyStatus, failed, systemOf } from "../../kernel/client/failure.ts";
import { receiveSecret } from "../../kernel/threads/secrets.ts";
import type { ObjectStoreOptions } from "../options.ts";

/** One page of keys, sorted. */
interface BucketPage {
  readonly keys: readonly string[];
  /** Whether more keys follow. */
  readonly more: boolean;
}

/** Rejects with a client failure or the signal's reason. */
export interface Bucket {
  list(prefix: string, after: string, most: number, signal: AbortSignal): Promise<BucketPage>;
  /** The stored bytes. */
  read(key: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  close(): void;
}

const ATTEMPTS = 3;
const CONNECT_MS = 5_000;
const REQUEST_MS = 30_000;

/**
 * Makes no request yet. `requestMs`: for the head of a response from the start of the request, and
 * between two pieces of its body.
 */
export function createBucket(options: ObjectStoreOptions, requestMs: number = REQUEST_MS): Bucket {
  let client: Promise<S3Client> | undefined;
  const open = (): Promise<S3Client> => (client ??= openClient(options, requestMs));
  return {
    async list(prefix, after, most, signal) {
      const { ListObjectsV2Command } = await import("@aws-sdk/client-s3");
      const answer = await request(options, "list", signal, async () =>
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
      // The SDK parses any document, such as a proxy's error page, as an empty list.
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
      const answer = await request(options, "get", signal, async () =>
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

async function openClient(options: ObjectStoreOptions, requestMs: number): Promise<S3Client> {
  const { S3Client: Client } = await import("@aws-sdk/client-s3");
  const { credentials } = options;
  return new Client({
    region: options.region,
    endpoint: options.endpoint,
    forcePathStyle: options.pathStyle,
    maxAttempts: ATTEMPTS,
    // Stores other than Amazon's lack the newer checksums.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      requestTimeout: requestMs,
      // Otherwise the SDK only logs a warning.
      throwOnRequestTimeout: true,
      socketTimeout: requestMs,
    },
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
 * Converts SDK errors to failures. Error messages of the store are dropped, since they may repeat
 * request contents; error names are kept.
 */
async function request<T>(
  { endpoint }: ObjectStoreOptions,
  operation: string,
  signal: AbortSignal,
  call: () => Promise<T>,
): Promise<T> {
  try {
    return await call();
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
