/**
 * OTLP over gRPC. The official transport keeps three off-heap copies of each request alive until
 * the next full GC: 60 MB after an export of 100,000 points. This one keeps one
 * (docs/decisions/telemetry-thread.md).
 */
import {
  type ChannelCredentials,
  Client,
  type Metadata,
  type ServiceError,
  status,
} from "@grpc/grpc-js";
import type { ExportResponse, IExporterTransport } from "@opentelemetry/otlp-exporter-base";
import type { Clock } from "../../base/clock.ts";

export interface GrpcTransportOptions {
  readonly clock: Clock;
  /** A gRPC target: host and port, or a `unix:` URL. */
  readonly address: string;
  /** `/package.Service/Method`. */
  readonly method: string;
  readonly metadata: Metadata;
  readonly credentials: ChannelCredentials;
  readonly compression: "gzip" | "none";
}

/** After this many consecutive timeouts the connection is assumed dead and replaced. */
const MAX_CONSECUTIVE_TIMEOUTS = 5;
/** Values of `grpc.default_compression_algorithm`. */
const ALGORITHMS = { none: 0, gzip: 2 } as const;

/**
 * One channel for one method, opened by the first request. The buffer of a successful request is
 * detached: its memory is freed at once, and its array is empty.
 */
export class GrpcTransport implements IExporterTransport {
  readonly #options: GrpcTransportOptions;
  #client: Client | undefined;
  #late = 0;

  constructor(options: GrpcTransportOptions) {
    this.#options = options;
  }

  async send(data: Uint8Array<ArrayBuffer>, timeoutMillis: number): Promise<ExportResponse> {
    try {
      const answer = await this.#call(data, this.#options.clock.now() + timeoutMillis);
      this.#late = 0;
      data.buffer.transfer(0);
      return { status: "success", ...(answer === undefined ? {} : { data: answer }) };
    } catch (error) {
      if ((error as Partial<ServiceError>).code === status.DEADLINE_EXCEEDED) this.#wasLate();
      return { status: "failure", error: error as Error };
    }
  }

  shutdown(): void {
    this.#client?.close();
    this.#client = undefined;
  }

  #call(data: Uint8Array, deadline: number): Promise<Buffer | undefined> {
    const { method, metadata } = this.#options;
    const client = (this.#client ??= this.#open());
    return new Promise((resolve, reject) => {
      client.makeUnaryRequest(
        method,
        bytesOf,
        (answer) => answer,
        data,
        metadata,
        { deadline },
        (error, answer) => (error === null ? resolve(answer) : reject(error)),
      );
    });
  }

  #open(): Client {
    const { address, credentials, compression } = this.#options;
    return new Client(address, credentials, {
      "grpc.default_compression_algorithm": ALGORITHMS[compression],
      "grpc.primary_user_agent": "steward",
    });
  }

  #wasLate(): void {
    this.#late += 1;
    if (this.#late <= MAX_CONSECUTIVE_TIMEOUTS) return;
    this.#late = 0;
    this.shutdown();
  }
}

/** The same bytes as a Buffer, without a copy. */
function bytesOf(data: Uint8Array): Buffer {
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
}
