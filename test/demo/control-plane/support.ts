/**
 * What tests of the simulated control planes share: a clock that stands still, started simulators
 * that end with the test, and a client.
 */
import { request, type IncomingHttpHeaders } from "node:http";
import { onTestFinished } from "vitest";
import { startHeadscale } from "../../support/headscale/headscale.ts";
import type { Headscale, HeadscaleOptions } from "../../support/headscale/types.ts";
import { startTailscale } from "../../../src/demo/tailscale/tailscale.ts";
import type { Tailscale, TailscaleOptions } from "../../../src/demo/tailscale/types.ts";
import { systemClock, type Clock } from "../../../src/kernel/base/clock.ts";
import { systemIds } from "../../../src/kernel/base/ids.ts";
import { createLog, type Log } from "../../../src/kernel/base/log.ts";

/** A Saturday in November, in the middle of a minute. */
export const NOW_MS: number = Date.UTC(2026, 10, 21, 10, 20, 30, 250);

/** Wall time that stands still until it is moved; timers are the machine's. */
export interface SetClock extends Clock {
  advance(ms: number): void;
}

export function setClock(nowMs: number = NOW_MS): SetClock {
  let wall = nowMs;
  return { ...systemClock, now: () => wall, advance: (ms) => void (wall += ms) };
}

/** Says nothing. */
export const silent: Log = createLog({
  level: "error",
  format: "text",
  write: () => undefined,
  now: () => 0,
});

/** One answer. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly raw: Buffer;
  readonly text: string;
  /** The body as JSON; undefined when it is none. */
  readonly json: any;
}

/** What to send beside the path. */
export interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Sends one request on a connection of its own. Rejects when the answer does not come whole. */
export function ask(
  url: string,
  { method = "GET", headers = {}, body }: Sent = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, agent: false, headers }, (incoming) => {
      const pieces: Buffer[] = [];
      incoming
        .on("data", (piece: Buffer) => pieces.push(piece))
        .once("error", reject)
        .once("end", () => {
          const raw = Buffer.concat(pieces);
          resolve({
            status: incoming.statusCode ?? 0,
            headers: incoming.headers,
            raw,
            text: raw.toString(),
            json: parse(raw.toString()),
          });
        });
    });
    outgoing.once("error", reject).end(body);
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * A started control plane of Tailscale's kind; paths are below `/api/v2`, asked with the API key
 * unless told otherwise.
 */
export interface TailscaleBench {
  readonly sim: Tailscale;
  readonly clock: SetClock;
  readonly get: (path: string, sent?: Sent) => Promise<Answer>;
  /** An access token for some scopes. */
  readonly token: (scopes?: string) => Promise<string>;
}

export async function benchTailscale(
  options: Partial<TailscaleOptions> = {},
): Promise<TailscaleBench> {
  const clock = setClock();
  const sim = await startTailscale({ clock, ids: systemIds, log: silent, ...options });
  onTestFinished(() => sim.stop());
  const form = { "content-type": "application/x-www-form-urlencoded" };
  return {
    sim,
    clock,
    get: (path, sent = {}) =>
      ask(`${sim.url}/api/v2${path}`, {
        ...sent,
        headers: { authorization: `Bearer ${sim.credentials.apiKey}`, ...sent.headers },
      }),
    async token(scopes) {
      const body = new URLSearchParams({
        grant_type: "client_credentials",
        client_id: sim.credentials.clientId,
        client_secret: sim.credentials.clientSecret,
        ...(scopes === undefined ? {} : { scope: scopes }),
      });
      return (
        await ask(`${sim.url}/api/v2/oauth/token`, {
          method: "POST",
          headers: form,
          body: body.toString(),
        })
      ).json.access_token as string;
    },
  };
}

/** A started Headscale, asked with its first key unless told otherwise. */
export interface HeadscaleBench {
  readonly sim: Headscale;
  readonly clock: SetClock;
  readonly get: (path: string, sent?: Sent) => Promise<Answer>;
}

export async function benchHeadscale(
  options: Partial<HeadscaleOptions> & Pick<HeadscaleOptions, "flavour">,
): Promise<HeadscaleBench> {
  const clock = setClock();
  const sim = await startHeadscale({ clock, ids: systemIds, log: silent, ...options });
  onTestFinished(() => sim.stop());
  return {
    sim,
    clock,
    get: (path, sent = {}) =>
      ask(`${sim.url}${path}`, {
        ...sent,
        headers: { authorization: `Bearer ${sim.apiKey}`, ...sent.headers },
      }),
  };
}
