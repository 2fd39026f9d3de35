/**
 * Classification of requests for capacity limits: decided from the head, before a byte of the body
 * is read.
 */
import type { ServerRequest } from "../exchange.ts";

/**
 * Whose part of the listener's capacity a request uses.
 * - `owner`: it carries a valid credential for what it asks.
 * - `stranger`: anybody else.
 * - `probe`: a health check, answered from memory.
 */
export type Share = "owner" | "stranger" | "probe";

/** All shares. */
export const SHARES: readonly Share[] = ["owner", "stranger", "probe"];

/**
 * What a request takes while it is answered.
 * - `request`: a place.
 * - `stream`: a long-lived answer, which counts apart and ends at an age.
 * - `conversation`: a stream whose body stays open as long as its answer.
 */
export type RequestKind = "request" | "stream" | "conversation";

/** What a listener must know of a request before it admits it. */
export interface Classification {
  readonly share: Share;
  readonly kind: RequestKind;
  /**
   * The key of per-address limits; undefined for an address that many clients share, such as a
   * proxy's.
   */
  readonly address: string | undefined;
}

/** Classifies one request from its head. Synchronous; called once per request; must not throw. */
export type Classify = (request: ServerRequest) => Classification;

const OWNER: Classification = { share: "owner", kind: "request", address: undefined };

/** For listeners with one kind of request. */
export const classifyAllAsOwner: Classify = () => OWNER;
