/** What the telemetry thread is started with: plain data. */
import type { Address } from "../../config/address.ts";
import type { ClientAuth } from "../../listen/client-certificates.ts";

/** Where a signal goes. */
export interface WireTarget {
  readonly protocol: "grpc" | "http" | "stdout";
  /** Of stdout: over several lines. */
  readonly pretty: boolean;
  /** A URL; for gRPC its scheme decides over TLS and its path is ignored. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly compression: "gzip" | "none";
  readonly timeoutMs: number;
  /** For gRPC; elapsed 0 = one try. */
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
  /** Larger requests are refused; 0 = none are. Bytes before compression. */
  readonly maxRequestBytes: number;
  /** Connections of gRPC are made anew after this time; 0 = never. */
  readonly reconnectMs: number;
  readonly reload: WireReload | undefined;
}

/** Files that are read again while the thread runs. */
export interface WireReload {
  readonly everyMs: number;
  readonly caFile: string | undefined;
  readonly certFile: string | undefined;
  readonly keyFile: string | undefined;
  /** Header name to the file of its value. */
  readonly headerFiles: Readonly<Record<string, string>>;
  /** The header `authorization` is made of a user and a file of its password. */
  readonly basic: { readonly user: string; readonly passwordFile: string } | undefined;
}

/** The pull endpoint. */
export interface WirePull {
  readonly listen: Address;
  readonly token: string | undefined;
  readonly allowUnauthenticated: boolean;
  readonly maxInFlight: number;
  /** For a whole answer; 0 = none. */
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

/** How a queue before an exporter gathers. */
export interface BatchOptions {
  /** Most that wait; the newest beyond is dropped. */
  readonly capacity: number;
  /** Most in one request, at most `capacity`. */
  readonly batchSize: number;
  readonly delayMs: number;
  /** For one batch with all its repetitions. */
  readonly exportTimeoutMs: number;
}

/** The thread's options. */
export interface ThreadOptions {
  readonly metrics:
    | (WireTarget & { readonly intervalMs: number; readonly batchSize: number })
    | undefined;
  readonly logs: (WireTarget & BatchOptions) | undefined;
  readonly traces: (WireTarget & BatchOptions) | undefined;
  readonly pull: WirePull | undefined;
  /** How long a snapshot of a scope is waited for. */
  readonly snapshotTimeoutMs: number;
}
