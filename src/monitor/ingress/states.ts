/** States of the ingress log: reasons of `/readyz`, of its component and of the status. */
export type IngressState =
  /** What an earlier process accepted is applied; receivers wait for it. */
  | "replaying"
  | "ready"
  /** Applying, exporting or removing failed and is tried again. */
  | "retrying"
  /** Nothing more fits; senders try again. */
  | "full"
  /** It cannot go on: its files are damaged, in use, or name a network that is not configured. */
  | "failed"
  /** The process stops. */
  | "draining"
  | "stopped";

/** Name of the component, of its row in the status and of the reason of `/readyz`. */
export const INGRESS = "ingress_wal";
