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

/** How a queue before an exporter gathers. */
export interface BatchOptions {
  /** Most that wait; the newest beyond is dropped. */
  readonly capacity: number;
  /** Most in one request, at most `capacity`. */
  readonly batchSize: number;
  readonly delayMs: number;
}

/** The thread's options. */
export interface ThreadOptions {
  readonly metrics: (WireTarget & { readonly intervalMs: number; readonly batchSize: number }) | undefined;
  readonly logs: (WireTarget & BatchOptions) | undefined;
  readonly traces: (WireTarget & BatchOptions) | undefined;
  /** How long a snapshot of a scope is waited for. */
  readonly snapshotTimeoutMs: number;
}
