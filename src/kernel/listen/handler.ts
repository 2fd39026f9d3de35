/** What a listener calls for each request, and what it grants to it. */
import type { StewardError } from "../base/errors.ts";
import type { BodyAllowance } from "./admission/body-budget.ts";
import type { ServerRequest, ServerResponse } from "./exchange.ts";
import type { Share } from "./admission/shares.ts";

/**
 * Sets the common headers of every response. Called once per request, before anything else: must
 * not throw.
 */
export type Prepare = (request: ServerRequest, response: ServerResponse) => void;

/** The resources granted at admission. */
export interface Admitted {
  readonly share: Share;
  /** Reserve from it before keeping bytes of the body. */
  readonly body: BodyAllowance;
  /** For a long-lived response: fires at its maximum age, with an error that says so. */
  readonly expired: AbortSignal | undefined;
}

/**
 * Answers one request. Errors are logged and become a 500. Its body counts until the promise
 * settles.
 */
export type Handler = (
  request: ServerRequest,
  response: ServerResponse,
  admitted: Admitted,
) => void | Promise<void>;

/** Answers a request that the listener does not admit. */
export type Refuse = (
  request: ServerRequest,
  response: ServerResponse,
  error: StewardError,
) => void;
