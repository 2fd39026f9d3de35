/**
 * The client of one Paperless-ngx: credential, API version, bounds and retries. What a response
 * means is decided by its callers.
 */
import { backoffMs } from "../../kernel/async/backoff.ts";
import { orAborted } from "../../kernel/async/wait.ts";
import { delay, type Clock } from "../../kernel/base/clock.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import type { Secret } from "../../kernel/base/secret.ts";
import { anonymous, basic, bearer } from "../../kernel/client/authorizers.ts";
import { failureClasses, failureOf } from "../../kernel/client/failure.ts";
import type {
  CallRequest,
  ClientFactory,
  ClientLimits,
  ClientSpec,
  Query,
  Reply,
  StreamedReply,
} from "../../kernel/client/types.ts";
import type { DedupReport } from "../telemetry/report.ts";
import type { ArchiveDescription } from "../archives/description.ts";
import { asPaperlessError, asTestError, isMissing, notPaperless, withMeaning } from "./failures.ts";

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
  /** Told of each attempt, and runs parts of a sync in spans. */
  readonly report?: Pick<DedupReport, "requested" | "span"> | undefined;
}

/** A page of a list. */
interface PaperlessPage {
  /** Of all pages, as the server counted it for this one. */
  readonly count: number;
  readonly results: readonly unknown[];
  readonly isLast: boolean;
}

/** One request below `/api/`, sent once unless it only reads. */
export interface PaperlessCall {
  /** Low-cardinality name, e.g. `patch_document`. */
  readonly operation: string;
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** With its slash at the end: without it the server answers with a login page. */
  readonly path: string;
  readonly query?: Query;
  /** Sent as JSON. */
  readonly body?: unknown;
}

/** Calls of one Paperless-ngx. Errors are the archive's, code `upstream`, unless stated otherwise. */
export interface PaperlessClient {
  readonly name: string;
  /**
   * Resolves when anything answers at the address over HTTP, whatever its status, within 5 s and
   * without a credential. Not retried.
   */
  probe(signal: AbortSignal): Promise<void>;
  /**
   * A page of a list below `/api/`, e.g. `documents`. Undefined for a page behind the last one, as
   * after deletions.
   */
  page(list: string, query: Query, signal: AbortSignal): Promise<PaperlessPage | undefined>;
  /**
   * A single request with a JSON answer. Only a GET is retried here: after a failed write its caller
   * reads again what is stored. Errors are those of the HTTP client (`failureOf`), a 400 without JSON
   * as a failure of the server.
   */
  send(call: PaperlessCall, signal: AbortSignal): Promise<Reply>;
  /**
   * The file of a document, as it arrives; the body must be read or dropped. Not retried. Code
   * `not_found` when the server says that there is none.
   */
  media(kind: MediaKind, id: number, signal: AbortSignal): Promise<StreamedReply>;
  /** A path below `/api/` as JSON, within 10 s and not retried: figures that are read every minute. */
  figures(path: string, query: Query, signal: AbortSignal): Promise<unknown>;
  /**
   * Its release and the number of its documents, with the credential; within 10 s and not retried,
   * not even where nothing listens.
   */
  describe(signal: AbortSignal): Promise<ArchiveDescription>;
  close(): Promise<void>;
}

/** The first file of a document as PDF or picture, and its first page as a small picture. */
export type MediaKind = "preview" | "thumb";

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
const FIGURE_MS = 10_000;
const CONNECT_MS = 10_000;
const BODY_BYTES = 64 * 1024 * 1024;
const STRING_BYTES = 48 * 1024 * 1024;
/** Up to version 9 each page has the ids of all. */
const ELEMENTS = 5_000_000;
const DEPTH = 32;
const CONNECTIONS = 8;
const IN_FLIGHT = 64;
const SLICE_MS = 5;
/** Waiting for the server, all pieces of a file together. */
const MEDIA_MS: Readonly<Record<MediaKind, number>> = { preview: 30_000, thumb: 15_000 };
const MEDIA_BYTES: Readonly<Record<MediaKind, number>> = {
  preview: 256 * 1024 * 1024,
  thumb: 16 * 1024 * 1024,
};
const MEDIA_IN_FLIGHT = 32;

export function createPaperlessClient(
  deps: PaperlessDeps,
  options: PaperlessOptions,
): PaperlessClient {
  const { name } = options;
  const base = new URL(options.url);
  const client = deps.clients.create(specOf(deps, options, base));
  const prober = deps.clients.create({
    ...specOf(deps, options, base),
    auth: anonymous,
    retry: { retries: 0, baseDelayMs: BASE_DELAY_MS, maxDelayMs: BASE_DELAY_MS },
    limits: { ...limitsOf(PROBE_MS), callMs: PROBE_MS },
  });
  const mediaClients = {
    preview: deps.clients.create(mediaSpecOf(deps, options, base, "preview")),
    thumb: deps.clients.create(mediaSpecOf(deps, options, base, "thumb")),
  };
  const figures = deps.clients.create({
    ...specOf(deps, options, base),
    retry: { retries: 0, baseDelayMs: BASE_DELAY_MS, maxDelayMs: BASE_DELAY_MS },
    limits: { ...limitsOf(FIGURE_MS), callMs: FIGURE_MS },
  });
  /** The Accept header once the server has shown its versions; undefined after a failure. */
  let accept: Promise<string> | undefined;

  const closing = new AbortController();

  // One request for all callers that wait for it, so none of their signals ends it.
  async function negotiate(): Promise<string> {
    // Without a version any server answers; a wrong version would hide a wrong credential.
    const { headers } = await client.call(
      { operation: "statistics", method: "GET", path: "/api/statistics/", idempotent: true },
      closing.signal,
    );
    const highest = Number(headers["x-api-version"] ?? Number.NaN);
    return Number.isInteger(highest) && highest > 0
      ? `application/json; version=${Math.min(highest, NEWEST_VERSION)}`
      : UNVERSIONED;
  }

  /** Calls in the version that both know. A version is refused before anything else is done. */
  async function versioned<T>(
    signal: AbortSignal,
    run: (accepted: string) => Promise<T>,
  ): Promise<T> {
    accept ??= negotiate().catch((error: unknown) => {
      accept = undefined;
      throw error;
    });
    const chosen = await orAborted(accept, signal);
    try {
      return await run(chosen);
    } catch (error) {
      // The server was replaced by one that does not know this version.
      if (failureOf(error)?.status !== 406 || chosen === UNVERSIONED) throw error;
      accept = Promise.resolve(UNVERSIONED);
      return await run(UNVERSIONED);
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
        // A redirect to the login page, a refusal, a 501 to HEAD: something answered. Whether it
        // serves documents is for the requests of a sync to find out, which are retried.
        const status = failureOf(error)?.status ?? 0;
        if (status === 0) throw asPaperlessError(name, error);
      }
    },
    async page(list, query, signal) {
      for (let attempt = 1; ; attempt++) {
        const progress = { begun: false };
        try {
          return await versioned(signal, (accepted) =>
            wholePage({ list, query, progress }, accepted, signal),
          );
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
    async send(call, signal) {
      try {
        return await versioned(signal, (accepted) =>
          client.call(requestOf(call, accepted), signal),
        );
      } catch (error) {
        throw withMeaning(error);
      }
    },
    async media(kind, id, signal) {
      try {
        // Any narrower Accept is refused with 406, whatever the file is.
        return await mediaClients[kind].stream(
          {
            operation: kind,
            method: "GET",
            path: `/api/documents/${id}/${kind}/`,
            accept: "*/*",
            idempotent: true,
          },
          signal,
        );
      } catch (error) {
        if (!isMissing(failureOf(error))) throw asPaperlessError(name, error);
        throw new StewardError(
          "not_found",
          `archive ${name} has no ${kind} of document ${id}: the document or its file is not there`,
          { cause: error },
        );
      }
    },
    async figures(path, query, signal) {
      try {
        const operation = path.split("/")[2] ?? path;
        const { value } = await figures.call(
          { operation, method: "GET", path, query, idempotent: true },
          signal,
        );
        return value;
      } catch (error) {
        throw asPaperlessError(name, error);
      }
    },
    async describe(signal) {
      try {
        // Somebody waits for the answer: a server that is down is no reason for attempts.
        const { headers, value } = await figures.call(
          {
            operation: "statistics",
            method: "GET",
            path: "/api/statistics/",
            read: "json",
            idempotent: false,
          },
          signal,
        );
        const documents = (value as { readonly documents_total?: unknown } | null)?.documents_total;
        if (typeof documents !== "number")
          throw notPaperless(name, "its statistics do not count documents");
        const apiVersion = headers["x-api-version"];
        return {
          version: headers["x-version"] ?? "",
          documents,
          ...(apiVersion === undefined ? {} : { apiVersion }),
        };
      } catch (error) {
        throw asTestError(name, error);
      }
    },
    async close() {
      closing.abort(new StewardError("cancelled", `the client of archive ${name} was closed`));
      await Promise.all(
        [client, prober, figures, mediaClients.preview, mediaClients.thumb].map((one) =>
          one.close(),
        ),
      );
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

function requestOf(
  { operation, method, path, query, body }: PaperlessCall,
  accept: string,
): CallRequest {
  return {
    operation,
    method,
    path,
    accept,
    // Messages of refusals are translated otherwise.
    headers: { "accept-language": "en" },
    idempotent: method === "GET",
    ...(query === undefined ? {} : { query }),
    ...(body === undefined
      ? {}
      : { body: { type: "application/json", bytes: JSON.stringify(body) } }),
  };
}

function mediaSpecOf(
  deps: PaperlessDeps,
  options: PaperlessOptions,
  base: URL,
  kind: MediaKind,
): ClientSpec {
  const attemptMs = Math.min(options.timeoutMs, MEDIA_MS[kind]);
  return {
    ...specOf(deps, options, base),
    retry: { retries: 0, baseDelayMs: BASE_DELAY_MS, maxDelayMs: BASE_DELAY_MS },
    limits: {
      ...limitsOf(attemptMs),
      callMs: attemptMs,
      wireBytes: MEDIA_BYTES[kind],
      bodyBytes: MEDIA_BYTES[kind],
      inFlight: MEDIA_IN_FLIGHT,
    },
  };
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
function specOf(
  { report }: PaperlessDeps,
  { name, credential, timeoutMs }: PaperlessOptions,
  base: URL,
): ClientSpec {
  return {
    ...(report === undefined ? {} : { observe: (attempt) => report.requested(attempt) }),
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
