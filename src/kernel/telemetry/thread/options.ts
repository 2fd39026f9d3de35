/** Options of the telemetry thread, as plain data. */
import type { Address } from "../../config/values/address.ts";
import type { ClientAuth } from "../../listen/tls/client-certificates.ts";

/** Where a signal is sent. */
export interface WireTarget {
  readonly protocol: "grpc" | "http" | "stdout";
  /** stdout: indented JSON. */
  readonly pretty: boolean;
  /** A URL; for gRPC its scheme selects TLS and its path is ignored. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly compression: "gzip" | "none";
  readonly timeoutMs: number;
  /** gRPC; elapsed 0 means no retry. */
  readonly retry: {
    readonly initialMs: number;
    readonly maxMs: number;
    readonly elapsedMs: number;
  };
  readonly tls: {
    readonly ca?: string;
    readonly cert?: string;
    readonly key?: string;
    readonly insecureSkipVerify: boolean;
  };
  /** Larger requests are not sent; 0 is unlimited. Bytes before compression. */
  readonly maxRequestBytes: number;
  /** gRPC reconnects after this time; 0 = never. */
  readonly reconnectMs: number;
  readonly reload: WireReload | undefined;
}

/** Files reloaded while the thread runs. */
export interface WireReload {
  readonly everyMs: number;
  readonly caFile: string | undefined;
  readonly certFile: string | undefined;
  readonly keyFile: string | undefined;
  /** Header name to the file of its value. */
  readonly headerFiles: Readonly<Record<string, string>>;
  /** Builds the `authorization` header from a user and a password file. */
  readonly basic: { readonly user: string; readonly passwordFile: string } | undefined;
}

export interface WirePull {
  readonly listen: Address;
  readonly token: string | undefined;
  readonly allowUnauthenticated: boolean;
  readonly maxInFlight: number;
  /** Per response; 0 = unlimited. */
  readonly timeoutMs: number;
  readonly coalesce: boolean;
  readonly tls:
    | {
        readonly certFile: string;
        readonly keyFile: string;
        readonly clientCaFile: string | undefined;
        readonly clientAuth: ClientAuth;
        readonly reloadMs: number | undefined;
      }
    | undefined;
}

/** The queue in front of an exporter. */
export interface BatchOptions {
  /** Maximum queue length; newer items beyond it are dropped. */
  readonly capacity: number;
  /** Maximum batch size, at most `capacity`. */
  readonly batchSize: number;
  readonly delayMs: number;
  /** For one batch with all its retries. */
  readonly exportTimeoutMs: number;
}

export interface ThreadOptions {
  readonly metrics:
    | (WireTarget & { readonly intervalMs: number; readonly batchSize: number })
    | undefined;
  readonly logs:
    | (WireTarget &
        BatchOptions & {
          /** A batch that failed is sent again until it arrives, is rejected, or the process stops. */
          readonly keeps: boolean;
        })
    | undefined;
  readonly traces: (WireTarget & BatchOptions) | undefined;
  readonly pull: WirePull | undefined;
  /** Timeout for the snapshot of a scope. */
  readonly snapshotTimeoutMs: number;
}
