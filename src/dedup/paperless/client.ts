/**
 * The client of one Paperless-ngx: credential, API version, bounds and retries. Reads only; what a
 * response means is decided by its callers.
 */
import { backoffMs } from "../../kernel/async/backoff.ts";
import { delay, type Clock } from "../../kernel/base/clock.ts";
import type { Secret } from "../../kernel/base/secret.ts";
import { anonymous, basic, bearer } from "../../kernel/client/authorizers.ts";
import { failureClasses, failureOf } from "../../kernel/client/failure.ts";
import type { ClientFactory, ClientLimits, ClientSpec, Query } from "../../kernel/client/types.ts";
import { asPaperlessError, notPaperless } from "./failures.ts";

/** Where it is and how it is called. */
export interface PaperlessOptions {
  readonly name: string;
  /** The address of Paperless-ngx, with its path if it has one. */
  readonly url: string;
  readonly credential: PaperlessCredential;
  /** Of one attempt. */
  readonly timeoutMs: number;
}

/** A token wins over a password, which the server takes a quarter of a second to check. */
type PaperlessCredential =
  | { readonly token: Secret }
  | { readonly username: string; readonly password: Secret };

export interface PaperlessDeps {
  readonly clients: ClientFactory;
  readonly clock: Clock;
}

/** A page of a list. */
interface PaperlessPage {
  /** Of all pages, as the server counted it for this one. */
  readonly count: number;
  readonly results: readonly unknown[];
  readonly isLast: boolean;
}

/** Calls of one Paperless-ngx. All errors are the archive's, code `upstream`. */
export interface PaperlessClient {
  readonly name: string;
  /** Resolves when anything answers at the address, within 5 s, without a credential. */
  probe(signal: AbortSignal): Promise<void>;
  /**
   * A page of a list below `/api/`, e.g. `documents`. Undefined for a page behind the last one, as
   * after deletions.
   */
  page(list: string, query: Query, signal: AbortSignal): Promise<PaperlessPage | undefined>;
  close(): Promise<void>;
}

/** One page, and whether its elements had begun to arrive. */
interface PageRequest {
  readonly list: string;
  readonly query: Query;
  readonly progress: { begun: boolean };
}

/** 9 is common to 2.16 and all of 3.0; 10 leaves out the ids of all pages. */
const NEWEST_VERSION = 10;
const UNVERSIONED = "application/json";
const RETRIES = 4;
const BASE_DELAY_MS = 1_000;
const MAX_DELAY_MS = 60_000;
const BACKOFF = { firstMs: BASE_DELAY_MS, maxMs: MAX_DELAY_MS };
const PROBE_MS = 5_000;
const CONNECT_MS = 10_000;
const BODY_BYTES = 64 * 1024 * 1024;
const STRING_BYTES = 48 * 1024 * 1024;
/** Up to version 9 each page has the ids of all. */
const ELEMENTS = 5_000_000;
const DEPTH = 32;
const CONNECTIONS = 8;
const IN_FLIGHT = 64;
const SLICE_MS = 5;

export function createPaperlessClient(
  deps: PaperlessDeps,
  options: PaperlessOptions,
): PaperlessClient {
  const { name } = options;
  const base = new URL(options.url);
  const client = deps.clients.create(specOf(options, base));
  const prober = deps.clients.create({
    ...specOf(options, base),
    auth: anonymous,
    retry: { retries: 0, baseDelayMs: BASE_DELAY_MS, maxDelayMs: BASE_DELAY_MS },
    limits: { ...limitsOf(PROBE_MS), callMs: PROBE_MS },
  });
  /** The Accept header once the server has shown its versions; undefined after a failure. */
  let accept: Promise<string> | undefined;

  async function negotiate(signal: AbortSignal): Promise<string> {
    // Without a version any server answers; a wrong version would hide a wrong credential.
    const { headers } = await client.call(
      { operation: "statistics", method: "GET", path: "/api/statistics/", idempotent: true },
      signal,
    );
    const highest = Number(headers["x-api-version"] ?? Number.NaN);
    return Number.isInteger(highest) && highest > 0
      ? `application/json; version=${Math.min(highest, NEWEST_VERSION)}`
      : UNVERSIONED;
  }

  async function readPage(asked: PageRequest, signal: AbortSignal): Promise<PaperlessPage> {
    accept ??= negotiate(signal).catch((error: unknown) => {
      accept = undefined;
      throw error;
    });
    const chosen = await accept;
    try {
      return await wholePage(asked, chosen, signal);
    } catch (error) {
      // The server was replaced by one that does not know this version.
      if (failureOf(error)?.status !== 406 || chosen === UNVERSIONED) throw error;
      accept = Promise.resolve(UNVERSIONED);
      return await wholePage(asked, UNVERSIONED, signal);
    }
  }

  return {
    name,
    async probe(signal) {
      try {
        await prober.call(
          {
            operation: "probe",
            method: "HEAD",
            path: "/",
            read: "bytes",
            idempotent: true,
          },
          signal,
        );
      } catch (error) {
        // A redirect to the login page, a refusal: it lives. A proxy's 5xx says that it does not.
        const status = failureOf(error)?.status ?? 0;
        if (status === 0 || status >= 500) throw asPaperlessError(name, error);
      }
    },
    async page(list, query, signal) {
      for (let attempt = 1; ; attempt++) {
        const progress = { begun: false };
        try {
          return await readPage({ list, query, progress }, signal);
        } catch (error) {
          const failure = failureOf(error);
          if (failure?.status === 404 && Number(query["page"] ?? 1) > 1) return undefined;
          const isPassing = failure !== undefined && failureClasses[failure.class].passing;
          // The client itself retries what fails before the first element; a page that breaks off
          // behind it is read again as a whole.
          if (!progress.begun || !isPassing || attempt > RETRIES || signal.aborted)
            throw asPaperlessError(name, error);
          await delay(deps.clock, backoffMs(attempt, BACKOFF), signal);
        }
      }
    },
    async close() {
      await Promise.all([client.close(), prober.close()]);
    },
  };

  async function wholePage(
    { list, query, progress }: PageRequest,
    accepted: string,
    signal: AbortSignal,
  ): Promise<PaperlessPage> {
    let beside: ReadonlyMap<string, unknown> = new Map();
    const results: unknown[] = [];
    for await (const batch of client.items(
      {
        operation: list,
        path: `/api/${list}/`,
        query,
        accept: accepted,
        headers: { "accept-language": "en" },
        at: ["results"],
        maxPages: 1,
        next: (page) => {
          beside = page.beside;
          return undefined;
        },
      },
      signal,
    )) {
      progress.begun = true;
      results.push(...batch);
    }
    const count = beside.get("count");
    if (typeof count !== "number" || !Number.isInteger(count) || count < 0)
      throw notPaperless(name, `the list of ${list} has no count`);
    return { count, results, isLast: typeof beside.get("next") !== "string" };
  }
}

function limitsOf(timeoutMs: number): ClientLimits {
  return {
    connectMs: Math.min(timeoutMs, CONNECT_MS),
    attemptMs: timeoutMs,
    callMs: (timeoutMs + MAX_DELAY_MS) * (RETRIES + 1),
    wireBytes: BODY_BYTES,
    bodyBytes: BODY_BYTES,
    json: { bytes: BODY_BYTES, depth: DEPTH, stringBytes: STRING_BYTES, elements: ELEMENTS },
    sliceMs: SLICE_MS,
    connections: CONNECTIONS,
    inFlight: IN_FLIGHT,
  };
}

/** A redirect is never followed: it leads to a login page, or takes the credential elsewhere. */
function specOf({ name, credential, timeoutMs }: PaperlessOptions, base: URL): ClientSpec {
  return {
    name: `archive ${name}`,
    base,
    auth:
      "token" in credential
        ? bearer(credential.token, "Token")
        : basic(credential.username, credential.password),
    limits: limitsOf(timeoutMs),
    retry: {
      retries: RETRIES,
      baseDelayMs: BASE_DELAY_MS,
      maxDelayMs: MAX_DELAY_MS,
      budget: "none",
    },
    breaker: "none",
    redirects: "none",
  };
}
