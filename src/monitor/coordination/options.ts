/** Options of the lease that replicas share. */

export interface CoordinationTls {
  /** PEM files; empty where unset. */
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
}

export interface CoordinationOptions {
  readonly mode: "etcd" | "kubernetes";
  readonly leaseName: string;
  /** Whole seconds in milliseconds. */
  readonly ttlMs: number;
  /** Schemes, hosts and ports. */
  readonly endpoints: readonly string[];
  /** Empty: the mode's own. */
  readonly namespace: string;
  /** Kubernetes alone; empty: the pod's. */
  readonly tokenFile: string;
  readonly tls: CoordinationTls;
}
