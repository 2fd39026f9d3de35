/** How a simulated Headscale is set up, and what tests may do to it. */
import type { ControlPlane, ControlPlaneDeps } from "../../../src/demo/control-plane/server.ts";
import type { Network } from "../../../src/demo/network/network.ts";
import type { Operation } from "./operations.ts";

/**
 * What users run today (0.29.2, a gRPC gateway), or what becomes 0.30 (a plain HTTP API with a part
 * of v2).
 */
export type Flavour = "release" | "development";

/**
 * Where the policy is kept: in the database, in a file, nowhere, or in a file whose path was never
 * set (the default installation).
 */
export type PolicyMode = "database" | "file" | "none" | "unset_file";

/** An API key. */
export interface HeadscaleKey {
  readonly key: string;
  /**
   * Milliseconds since 1970. `zero`: made without an expiration, which the server refuses;
   * undefined: never runs out.
   */
  readonly expiresAtMs?: number | "zero";
}

/** How it is set up. */
export interface HeadscaleOptions extends ControlPlaneDeps {
  readonly flavour: Flavour;
  /** Same seed, same network. Default 1. */
  readonly seed?: number;
  /** Default 25. */
  readonly devices?: number;
  /** Instead of a network made from `seed` and `devices`. */
  readonly network?: Network;
  /** Default: one with a secret drawn from `ids`. */
  readonly apiKeys?: readonly HeadscaleKey[];
  /** Default `database`. */
  readonly policy?: PolicyMode;
  /**
   * The server's time zone, minutes east of UTC; only the development flavour shows it. Default 0.
   */
  readonly zoneMinutes?: number;
  /** What the check of a key's hash costs, about 60 on a real server; default 0. */
  readonly costMs?: number;
  /** Default any free. */
  readonly port?: number;
}

/** What happens to nodes. Ids are those of the API; each throws `not_found` for an unknown one. */
export interface HeadscaleEstate {
  readonly network: Network;
  /** The process restarts: every node is offline at once, and comes back within nine seconds. */
  restart(): void;
  /** Its key runs out now; it stays online while its client holds the connection. */
  expire(nodeId: string): void;
  /** Its client is stopped: offline ten seconds later. */
  disconnect(nodeId: string): void;
  /** Expired now and offline ten seconds later; an ephemeral node vanishes at once. */
  logOut(nodeId: string): void;
  remove(nodeId: string): void;
  /** Changes the given name only. */
  rename(nodeId: string, givenName: string): void;
  /** Tags it: it belongs to nobody from now on. */
  tag(nodeId: string, tags: readonly string[]): void;
  /** Replaces what is approved. */
  approveRoutes(nodeId: string, routes: readonly string[]): void;
  /** Replaces what its client advertises; what is approved stays. */
  advertiseRoutes(nodeId: string, routes: readonly string[]): void;
  /** Stores another policy, also an equal one: the time of the change moves. */
  policy(text: string): void;
  policyMode(mode: PolicyMode): void;
  /** Every API key is refused from now on. */
  revokeKeys(): void;
  /** Puts `change` between the model and the wire; undefined ends it. */
  change(operation: Operation, change: ((body: unknown) => unknown) | undefined): void;
}

/** A running server. */
export interface Headscale extends ControlPlane<Operation> {
  readonly flavour: Flavour;
  readonly estate: HeadscaleEstate;
  /** The first API key, whole. */
  readonly apiKey: string;
}
