/** Interface of a control plane, as collectors use it. */
import type { OperationStatus } from "../../kernel/client/types.ts";
import type { HostedCalls } from "./tailscale/calls.ts";

export type ProviderKind = "tailscale" | "headscale";

/**
 * The calls for collectors. The hosted control plane has all of them, so its table declares them;
 * another provider implements some.
 */
export type ProviderCalls = HostedCalls;
export type CallName = keyof ProviderCalls;

/** What is known of the credential, for the capability matrix. */
export interface Granted {
  readonly method: "oauth" | "apikey" | "workload_identity";
  /** Requested scopes; undefined when the credential has no comparable scopes. */
  readonly scopes: readonly string[] | undefined;
}

/**
 * One control plane with one credential. Calls reject with a client error (`failureOf` gives its
 * status) or with the signal's reason; those that `supports` denies throw `unsupported` at once.
 * Lists keep the control plane's order.
 */
export interface Provider extends ProviderCalls {
  readonly kind: ProviderKind;
  readonly granted: Granted;
  /** Whether it implements the call. */
  supports(call: CallName): boolean;
  /** The network's own name; undefined when the control plane does not report it. */
  networkName(signal: AbortSignal): Promise<string | undefined>;
  /** State of each endpoint. */
  status(): readonly OperationStatus[];
  close(): Promise<void>;
}
