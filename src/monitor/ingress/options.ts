/** Options of the ingress log as plain data; they cross to the monitor's thread. */
export interface IngressOptions {
  /** Absolute. */
  readonly directory: string;
  /** Bytes of all bodies together. */
  readonly maxBytes: number;
  readonly maxEntries: number;
}
