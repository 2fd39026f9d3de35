/**
 * Finds the app's installations: by direct lookup, else in the list. Concurrent lookups share a
 * request, and results are cached.
 */
import type { Clock } from "../../../kernel/base/clock.ts";
import { StewardError } from "../../../kernel/base/errors.ts";
import { orAborted } from "../../../kernel/async/wait.ts";
import { isRawNumber, numberText, parseExact, type RawNumber } from "../../logical/json.ts";
import { logicalError } from "../../logical/occurred.ts";
import type { Installation, Permissions } from "../types.ts";
import { invalidAnswer, platformFailure } from "./failures.ts";
import type { HttpLost, HttpReply } from "./http.ts";
import type { Platform } from "./platform.ts";

const FOUND_FOR_MS = 300_000;
const MISSING_FOR_MS = 30_000;

/** Cached organisations; the oldest are evicted. */
const MAX_REMEMBERED = 10_000;

/** Longer than any account name. Longer texts are rejected before they enter the cache. */
const MAX_LOGIN_LENGTH = 100;

/** Pages of 100. */
const MAX_PAGES = 1_000;

/** A whole lookup, all pages included. */
const LOOKUP_MS = 60_000;

interface Found {
  /** As the platform wrote it. */
  readonly id: number | RawNumber;
  /** Whether it came from the cache and may be stale. */
  readonly remembered: boolean;
}

/** For one app. Throws StewardError with the platform's cause. */
export interface Installations {
  /**
   * By login, case-insensitive. Throws `invalid` when the app is not installed there. `enter` is
   * called only if this starts a call to the platform; its result is disposed of after the call.
   */
  find(login: string, signal: AbortSignal, enter?: () => Disposable): Promise<Found>;
  /** Evicts a cached installation. */
  forget(login: string): void;
  /** One installation with its permissions. Throws `invalid` when there is none. */
  read(id: number | RawNumber, signal: AbortSignal): Promise<Installation>;
  /** In the platform's order. */
  list(signal: AbortSignal): Promise<readonly Installation[]>;
}

type Known = { readonly id: number | RawNumber | undefined; readonly untilMs: number };

/** Starts with an empty cache. */
export function createInstallations(platform: Platform, clock: Clock): Installations {
  const known = new Map<string, Known>();
  const lookups = new Map<string, Promise<number | RawNumber | undefined>>();

  async function lookUpOnce(
    login: string,
    enter: (() => Disposable) | undefined,
  ): Promise<number | RawNumber | undefined> {
    using _slot = enter?.();
    const controller = new AbortController();
    // Not the first caller's signal: other waiters must not fail when it disconnects.
    using _deadline = clock.timer(clock.monotonic() + LOOKUP_MS, () =>
      controller.abort(
        new StewardError(
          "deadline",
          `looking up the installation took longer than ${LOOKUP_MS} ms`,
        ),
      ),
    );
    const id = await lookUp(platform, clock, login, controller.signal);
    known.delete(login);
    known.set(login, {
      id,
      untilMs: clock.monotonic() + (id === undefined ? MISSING_FOR_MS : FOUND_FOR_MS),
    });
    for (const oldest of known.keys()) {
      if (known.size <= MAX_REMEMBERED) break;
      known.delete(oldest);
    }
    return id;
  }

  return {
    async find(name, signal, enter) {
      if (name.length > MAX_LOGIN_LENGTH) return foundOf(name, undefined, false);
      const login = name.toLowerCase();
      const held = known.get(login);
      if (held !== undefined && clock.monotonic() < held.untilMs)
        return foundOf(name, held.id, true);
      const lookup =
        lookups.get(login) ?? lookUpOnce(login, enter).finally(() => lookups.delete(login));
      lookups.set(login, lookup);
      return foundOf(name, await orAborted(lookup, signal), false);
    },
    forget: (name) => void known.delete(name.toLowerCase()),
    async read(id, signal) {
      const { outcome } = await platform.get(`app/installations/${numberText(id) ?? ""}`, signal);
      const attempted = {
        failed: "unable to read the installation",
        subject: `installation ${numberText(id) ?? ""}`,
      };
      if (outcome.lost !== undefined || outcome.status !== 200)
        throw platformFailure(attempted, outcome, clock.now());
      const installation = installationOf(parsed(outcome, attempted.failed));
      if (installation === undefined)
        throw invalidAnswer(attempted, "the response is not an installation");
      return installation;
    },
    async list(signal) {
      const all: Installation[] = [];
      for await (const page of pages(platform, clock, signal)) all.push(...page);
      return all;
    },
  };
}

function foundOf(name: string, id: number | RawNumber | undefined, remembered: boolean): Found {
  if (id !== undefined) return { id, remembered };
  throw logicalError(
    `app not installed in GitHub organization ${JSON.stringify(name.slice(0, 100))}; install it there, or read installations for those it has`,
    { field: "org_name", rule: "not_installed" },
  );
}

// The direct lookup fails for user accounts, old servers and some proxies; the list covers all.
async function lookUp(
  platform: Platform,
  clock: Clock,
  login: string,
  signal: AbortSignal,
): Promise<number | RawNumber | undefined> {
  let refusal: StewardError | undefined;
  if (/^[a-z0-9_][a-z0-9_-]*$/.test(login)) {
    const { outcome } = await platform.get(`orgs/${login}/installation`, signal);
    const direct =
      outcome.lost === undefined && outcome.status === 200
        ? installationOf(tryParse(outcome))
        : undefined;
    if (direct !== undefined) return direct.id;
    refusal = refusalOf(outcome, clock.now());
    if (refusal !== undefined && isFinal(outcome, refusal)) throw refusal;
  }
  try {
    for await (const page of pages(platform, clock, signal)) {
      const found = page.find((installation) => installation.login.toLowerCase() === login);
      if (found !== undefined) return found.id;
    }
  } catch (error) {
    throw signal.aborted ? error : (refusal ?? error);
  }
  return undefined;
}

/** Failure of a direct lookup; undefined when it only means unknown: 404, an HTML page, no JSON. */
function refusalOf(outcome: HttpReply | HttpLost, nowMs: number): StewardError | undefined {
  const failed =
    outcome.lost !== undefined ||
    outcome.status === 401 ||
    outcome.status === 403 ||
    outcome.status === 429 ||
    outcome.status >= 500;
  return failed ? platformFailure(FINDING, outcome, nowMs) : undefined;
}

/** Whether the list would fail as well, or must not be requested now. */
function isFinal(outcome: HttpReply | HttpLost, refusal: StewardError): boolean {
  if (outcome.lost !== undefined) return outcome.lost !== "connection";
  return outcome.status === 401 || refusal.code === "exhausted";
}

const FINDING = { failed: "unable to list installations", subject: "installation in this account" };

async function* pages(
  platform: Platform,
  clock: Clock,
  signal: AbortSignal,
): AsyncGenerator<readonly Installation[], void, undefined> {
  let at: string | URL | undefined = "app/installations?per_page=100";
  for (let page = 0; at !== undefined; page++) {
    if (page === MAX_PAGES)
      throw new StewardError("upstream", `${FINDING.failed}: more than ${MAX_PAGES} pages`, {
        rule: "pages",
      });
    const { outcome, next } = await platform.get(at, signal);
    if (outcome.lost === "cancelled") throw signal.reason as Error;
    if (outcome.lost !== undefined || outcome.status !== 200)
      throw platformFailure(FINDING, outcome, clock.now());
    const list = parsed(outcome, FINDING.failed);
    if (!Array.isArray(list)) throw invalidAnswer(FINDING, "the response is not a list");
    yield list.map(installationOf).filter((installation) => installation !== undefined);
    at = next;
  }
}

function parsed(reply: HttpReply, failed: string): unknown {
  try {
    return parseExact(reply.body);
  } catch {
    throw invalidAnswer({ failed, subject: "" }, "the response is not JSON");
  }
}

function tryParse(reply: HttpReply): unknown {
  try {
    return parseExact(reply.body);
  } catch {
    return undefined;
  }
}

function installationOf(value: unknown): Installation | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const {
    id,
    account,
    suspended_at: suspendedAt,
    permissions,
  } = value as {
    readonly id?: unknown;
    readonly account?: { readonly login?: unknown; readonly slug?: unknown } | null;
    readonly suspended_at?: unknown;
    readonly permissions?: unknown;
  };
  if (!isRawNumber(id) && !Number.isSafeInteger(id)) return undefined;
  // Enterprises have a slug instead of a login.
  const login = account?.login ?? account?.slug;
  return {
    id: id as number | RawNumber,
    login: typeof login === "string" ? login : "",
    suspended: typeof suspendedAt === "string",
    permissions: permissionsOf(permissions),
  };
}

/** Keeps permissions whose level is a text. */
export function permissionsOf(value: unknown): Permissions {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return {};
  return Object.fromEntries(
    Object.entries(value).filter(
      (entry): entry is [string, string] => typeof entry[1] === "string",
    ),
  );
}
