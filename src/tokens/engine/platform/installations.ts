/**
 * Where the app is installed: found directly, else in the list; asked once for all who wait, and
 * remembered for a while.
 */
import type { Clock } from "../../../kernel/base/clock.ts";
import { StewardError } from "../../../kernel/base/errors.ts";
import { until } from "../../../kernel/json/until.ts";
import { isRawNumber, numberText, parseExact, type RawNumber } from "../../logical/json.ts";
import { logicalError } from "../../logical/occurred.ts";
import type { Installation, Permissions } from "../types.ts";
import { garbage, platformFailure } from "./failures.ts";
import type { HttpLost, HttpReply } from "./http.ts";
import type { Platform } from "./platform.ts";

const FOUND_FOR_MS = 300_000;
const MISSING_FOR_MS = 30_000;

/** Organisations remembered; the oldest go first. */
const MAX_REMEMBERED = 10_000;

/**
 * No account's name is longer. What is asked for is remembered, so a longer text must not get that
 * far.
 */
const MAX_LOGIN_LENGTH = 100;

/** Pages of a hundred. */
const MAX_PAGES = 1_000;

/** A whole lookup, all its pages included. */
const LOOKUP_MS = 60_000;

/** An installation that was found. */
interface Found {
  /** As the platform wrote it. */
  readonly id: number | RawNumber;
  /** Whether it was remembered from earlier and may be gone. */
  readonly remembered: boolean;
}

/** Finds installations of one app. Throws StewardErrors with the platform's meaning. */
export interface Installations {
  /** By login, in any case. Throws `invalid` when the app is not installed there. */
  find(login: string, signal: AbortSignal): Promise<Found>;
  /** The platform does not know an installation any more. */
  forget(login: string): void;
  /** One, with what it permits. Throws `invalid` when there is none. */
  read(id: number | RawNumber, signal: AbortSignal): Promise<Installation>;
  /** All, in the platform's order. */
  list(signal: AbortSignal): Promise<readonly Installation[]>;
}

type Known = { readonly id: number | RawNumber | undefined; readonly untilMs: number };

/** Nothing is known at first. */
export function createInstallations(platform: Platform, clock: Clock): Installations {
  const known = new Map<string, Known>();
  const asking = new Map<string, Promise<number | RawNumber | undefined>>();

  async function ask(login: string): Promise<number | RawNumber | undefined> {
    const controller = new AbortController();
    // Not the signal of whoever came first: the others must not fail because that one left.
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
    async find(name, signal) {
      if (name.length > MAX_LOGIN_LENGTH) return foundOf(name, undefined, false);
      const login = name.toLowerCase();
      const held = known.get(login);
      if (held !== undefined && clock.monotonic() < held.untilMs)
        return foundOf(name, held.id, true);
      const asked = asking.get(login) ?? ask(login).finally(() => asking.delete(login));
      asking.set(login, asked);
      return foundOf(name, await until(asked, signal), false);
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
        throw garbage(attempted, "the response is not an installation");
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

// A direct lookup knows neither what old servers lack nor users' accounts, and proxies refuse paths
// they do not know; the list knows all.
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

/**
 * What a direct lookup failed with; undefined where it only does not know the account: 404, a page,
 * no JSON.
 */
function refusalOf(outcome: HttpReply | HttpLost, nowMs: number): StewardError | undefined {
  const failed =
    outcome.lost !== undefined ||
    outcome.status === 401 ||
    outcome.status === 403 ||
    outcome.status === 429 ||
    outcome.status >= 500;
  return failed ? platformFailure(FINDING, outcome, nowMs) : undefined;
}

/** Whether the list would be refused as well: it is, or must not be asked for now. */
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
    if (!Array.isArray(list)) throw garbage(FINDING, "the response is not a list");
    yield list.map(installationOf).filter((installation) => installation !== undefined);
    at = next;
  }
}

function parsed(reply: HttpReply, failed: string): unknown {
  try {
    return parseExact(reply.body);
  } catch {
    throw garbage({ failed, subject: "" }, "the response is not JSON");
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
  // Enterprises have a slug where organisations and users have a login.
  const login = account?.login ?? account?.slug;
  return {
    id: id as number | RawNumber,
    login: typeof login === "string" ? login : "",
    suspended: typeof suspendedAt === "string",
    permissions: permissionsOf(permissions),
  };
}

/** Permissions in an answer: the members that are texts. */
export function permissionsOf(value: unknown): Permissions {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return {};
  return Object.fromEntries(
    Object.entries(value).filter(
      (entry): entry is [string, string] => typeof entry[1] === "string",
    ),
  );
}
