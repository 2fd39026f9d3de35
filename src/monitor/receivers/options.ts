/** Options of the receivers as plain data; they cross to the monitor's thread. */
import type { Address } from "../../kernel/config/values/address.ts";
import type { SentSecret } from "../../kernel/threads/secrets.ts";

/** What both receivers have. */
export interface ReceiverOptions {
  readonly listen: Address;
  readonly tls: { readonly certFile: string; readonly keyFile: string } | undefined;
  /** Bytes of one body: after decompression for streams, as received for webhooks. */
  readonly maxBodyBytes: number;
  /** Requests at the same time; further ones wait 250 ms. */
  readonly maxConcurrentRequests: number;
}

/** How a stream's body is decompressed; `auto` follows `Content-Encoding`. */
export type Decompression = "auto" | "gzip" | "zstd" | "none";

/** One path of the streaming receiver. */
interface StreamRoute {
  readonly path: string;
  /** The configured name of the network; undefined is the only one. */
  readonly network: string | undefined;
  /** Undefined only on loopback. */
  readonly token: SentSecret | undefined;
}

export interface StreamOptions extends ReceiverOptions {
  readonly decompress: Decompression;
  /** At least one; their paths differ. */
  readonly routes: readonly StreamRoute[];
}

/** A network that the webhook receiver serves. */
interface WebhookRoute {
  /** The configured name of the network; undefined is the only one. */
  readonly network: string | undefined;
  /** Undefined only on loopback. */
  readonly secret: SentSecret | undefined;
}

export interface WebhookOptions extends ReceiverOptions {
  readonly path: string;
  /** Longest difference between the signature's time and now; 0 accepts any. */
  readonly toleranceMs: number;
  /** Whether a webhook event and an audit event of the same change count once. */
  readonly dedupAuditEvents: boolean;
  /** At least one. */
  readonly routes: readonly WebhookRoute[];
}

/** Undefined members are switched off. */
export interface ReceiversOptions {
  readonly stream: StreamOptions | undefined;
  readonly webhook: WebhookOptions | undefined;
}
