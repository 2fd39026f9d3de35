/** How a simulated control plane of Tailscale's kind is set up, and what tests may do to it. */
import type { ControlPlane, ControlPlaneDeps } from "../control-plane/server.ts";
import type { AuditEvent } from "../network/audit.ts";
import type { Network } from "../network/network.ts";
import type { Operation } from "./operations.ts";

/** An OAuth client. */
export interface OAuthClient {
  readonly id: string;
  readonly secret: string;
  /** Default `all:read`. */
  readonly scopes?: readonly string[];
}

/** An API key of a person. */
export interface ApiKey {
  readonly key: string;
  /** Default `all`: what its owner may. */
  readonly scopes?: readonly string[];
  /** Milliseconds since 1970; never when not given. */
  readonly expiresAtMs?: number;
}

/** A client that proves itself with another issuer's token. */
export interface FederatedClient {
  readonly id: string;
  /** The only token accepted; any that looks like a JWT when not given. */
  readonly jwt?: string;
  /** Default `all:read`. */
  readonly scopes?: readonly string[];
}

/** What a plan may lack. */
export type Feature =
  | "flow_logs"
  | "audit_logs"
  | "webhooks"
  | "posture_integrations"
  | "log_streaming"
  | "services"
  | "oauth_apps";

/** From when on the control plane answers 429. */
export interface RateLimit {
  /** Requests of one minute, tokens' included. */
  readonly perMinute: number;
  /** Form of `Retry-After` at the end of the minute; default `seconds`. */
  readonly announce?: "seconds" | "date" | "none";
}

/** How it is set up. */
export interface TailscaleOptions extends ControlPlaneDeps {
  /** Same seed, same network. Default 1. */
  readonly seed?: number;
  /** Default 25. */
  readonly devices?: number;
  /** The organisation's domain, which is the network's name; default `corp.test`. */
  readonly tailnet?: string;
  /** Machines that begin conversations; default 250. */
  readonly talkers?: number;
  /** Instead of a network made from `seed`, `devices`, `tailnet` and `talkers`. */
  readonly network?: Network;
  /** Default: one of each, with secrets drawn from `ids`. */
  readonly clients?: readonly OAuthClient[];
  readonly apiKeys?: readonly ApiKey[];
  readonly federated?: readonly FederatedClient[];
  /** How long access tokens are good; default an hour. */
  readonly tokenLifetimeMs?: number;
  readonly absent?: readonly Feature[];
  /** Log streams that are set up; default `configuration`. */
  readonly streams?: readonly StreamType[];
  readonly limit?: RateLimit;
  /** Whether flow records name their nodes; default true. */
  readonly embedNodes?: boolean;
  /** Ids of users and invites as text instead of numbers; default false. */
  readonly inviteIdsAsText?: boolean;
  /** Compress larger answers for clients that take it; default true. */
  readonly gzip?: boolean;
  /** Default any free. */
  readonly port?: number;
}

/** What can be streamed elsewhere. */
export type StreamType = "network" | "configuration";

/**
 * The network as the simulator shows it, and the changes that tests make to it. They take effect
 * with the next request.
 */
export interface Estate {
  readonly network: Network;
  /**
   * Puts `change` between the model and the wire: it gets the body of a success and returns
   * another. Undefined ends it.
   */
  change(operation: Operation, change: ((body: unknown) => unknown) | undefined): void;
  /** Replaces the policy; undefined: the model's again. */
  policy(text: string | undefined): void;
  /** One more event in the audit log. At most 10,000 are kept. */
  audit(event: AuditEvent): void;
  /**
   * One more record in the flow log, on the wire's terms; readable from `loggedMs` on, default at
   * once. At most 10,000 are kept.
   */
  flow(record: object, times: { readonly startMs: number; readonly loggedMs?: number }): void;
  /** What a plan lacks from now on. */
  absent(features: readonly Feature[]): void;
  /** New request limit; undefined for none. */
  limit(limit: RateLimit | undefined): void;
  /** Access tokens and API keys in force are refused from now on. Clients get new tokens. */
  revokeTokens(): void;
  /** Adds or replaces. */
  client(client: OAuthClient): void;
  /** The client is unknown from now on; its tokens are refused. */
  removeClient(id: string): void;
}

/** A running control plane. */
export interface Tailscale extends ControlPlane<Operation> {
  readonly estate: Estate;
  /** The first of each kind. */
  readonly credentials: {
    readonly clientId: string;
    readonly clientSecret: string;
    readonly apiKey: string;
    readonly federatedClientId: string;
  };
  /** The network's name, e.g. `corp.test`. */
  readonly tailnet: string;
}
