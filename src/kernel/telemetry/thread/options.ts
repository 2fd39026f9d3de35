/** What the telemetry thread is started with: plain data. */

/** Where a signal goes. */
export interface WireTarget {
  readonly protocol: "grpc" | "http";
  /** A URL; for gRPC its scheme decides over TLS and its path is ignored. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly compression: "gzip" | "none";
  readonly timeoutMs: number;
  /** For gRPC; elapsed 0 = one try. */
  readonly retry: { readonly initialMs: number; readonly maxMs: number; readonly elapsedMs: number };
  readonly tls: { readonly ca?: string; readonly cert?: string; readonly key?: string; readonly insecureSkipVerify: boolean };
}

/** The thread's options. */
export interface ThreadOptions {
  readonly metrics: (WireTarget & { readonly intervalMs: number; readonly batchSize: number }) | undefined;
  readonly logs: (WireTarget & { readonly batchDelayMs: number }) | undefined;
  /** How long a snapshot of a scope is waited for. */
  readonly snapshotTimeoutMs: number;
}
