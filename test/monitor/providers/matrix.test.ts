import { gzipSync } from "node:zlib";
import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { failureOf } from "../../../src/kernel/client/failure.ts";
import type { Provider } from "../../../src/monitor/providers/provider.ts";
import { createUpstream, forever, sendJson } from "../../kernel/client/upstream.ts";
import { all, ask, CANARY, headscaleOptions, http, tailscaleOptions } from "./plane.ts";

const window = { fromMs: 1_000_000, toMs: 2_000_000 };
const operations: Readonly<Record<string, (provider: Provider) => Promise<unknown>>> = {
  devices: (p) => p.devices(forever),
  devicePosture: (p) => p.devicePosture("1", forever),
  deviceInvites: (p) => p.deviceInvites("1", forever),
  users: (p) => p.users(forever),
  userInvites: (p) => p.userInvites(forever),
  keys: (p) => p.keys(forever),
  settings: (p) => p.settings(forever),
  policy: (p) => p.policy(forever),
  validatePolicy: (p) => p.validatePolicy("{}", forever),
  dns: (p) => p.dns(forever),
  contacts: (p) => p.contacts(forever),
  webhooks: (p) => p.webhooks(forever),
  postureIntegrations: (p) => p.postureIntegrations(forever),
  logStream: (p) => p.logStream("network", forever),
  oauthApps: (p) => p.oauthApps(forever),
  services: (p) => p.services(forever),
  serviceHosts: (p) => p.serviceHosts("svc:web", forever),
  flowLogs: (p) => all(p.flowLogs(window, forever)),
  auditLogs: (p) => all(p.auditLogs(window, forever)),
  networkName: (p) => p.networkName(forever),
};
const ours = ["devices", "users", "keys", "policy"];

interface Fault {
  readonly name: string;
  readonly class: string;
  readonly attempts: number;
  readonly status?: number;
  answer(response: ServerResponse): void;
}
const status = (
  code: number,
  kind: string,
  attempts: number,
  headers: Record<string, string> = {},
): Fault => ({
  name: `${code}${headers["retry-after"] === undefined ? "" : " with Retry-After"}`,
  class: kind,
  attempts,
  status: code,
  answer: (response) => sendJson(response, { message: "no" }, headers, code),
});
const text = (
  name: string,
  kind: string,
  attempts: number,
  body: string | Buffer,
  headers: Record<string, string> = { "content-type": "application/json" },
): Fault => ({
  name,
  class: kind,
  attempts,
  answer(response) {
    response.writeHead(200, headers);
    response.end(body);
  },
});
// Blanks stand before any answer, so that every operation meets the same fault.
const faults: readonly Fault[] = [
  status(401, "auth", 1),
  status(403, "forbidden", 1),
  status(404, "not_found", 1),
  status(429, "rate_limited", 2),
  status(429, "rate_limited", 2, { "retry-after": "3600" }),
  status(500, "server", 2),
  status(400, "rejected", 1),
  { name: "no answer in time", class: "timeout", attempts: 2, answer: () => undefined },
  {
    name: "a reset",
    class: "transport",
    attempts: 2,
    answer: (response) => void response.socket?.destroy(),
  },
  text("a truncated gzip", "transport", 2, gzipSync(" ".repeat(90_000)).subarray(0, 40), {
    "content-type": "application/json",
    "content-encoding": "gzip",
  }),
  text("HTML", "decode", 1, "<html>log in</html>", { "content-type": "text/html" }),
  text("a body over the cap", "too_large", 1, " ".repeat(900_000)),
];
const structural: readonly Fault[] = [
  text("JSON 10,000 deep", "too_large", 1, "[".repeat(10_000) + "]".repeat(10_000)),
  text("a text", "decode", 1, '"hello"'),
  text("JSON cut off", "decode", 1, '{"devices":[{"id":'),
];

async function meet(fault: Fault, kind: "tailscale" | "headscale", name: string): Promise<void> {
  await using upstream = await createUpstream((_, response) => fault.answer(response));
  const timing =
    fault.class === "timeout"
      ? // The longest delay is part of the time of the whole call: an attempt may end late.
        { ...http, timeoutMs: 500, maxDelayMs: 60_000 }
      : { ...http, timeoutMs: 60_000 };
  await using asked = ask(
    kind === "tailscale"
      ? tailscaleOptions(upstream.url, { http: timing })
      : headscaleOptions(upstream.url, { http: timing }),
  );
  const error: unknown = await operations[name]?.(asked.provider).then(
    (value) => ({ value }),
    (thrown: unknown) => thrown,
  );
  expect(failureOf(error), `${kind} ${name}: ${String(error)}`).toMatchObject({
    class: fault.class,
    ...(fault.status === undefined ? {} : { status: fault.status }),
  });
  // On a busy machine an attempt may be over before its request arrives.
  if (fault.class === "timeout")
    expect(upstream.requests.length, `${kind} ${name}`).toBeLessThanOrEqual(fault.attempts);
  else expect(upstream.requests, `${kind} ${name}`).toHaveLength(fault.attempts);
  expect(asked.calls).toMatchObject([{ class: fault.class, attempts: fault.attempts }]);
  expect(JSON.stringify([asked.lines, String(error), asked.provider.status()])).not.toContain(
    CANARY,
  );
}

describe("every operation meets", () => {
  it.each(faults)("$name", async (fault) => {
    await Promise.all([
      ...Object.keys(operations).map((name) => meet(fault, "tailscale", name)),
      ...ours.map((name) => meet(fault, "headscale", name)),
    ]);
  });

  it.each(structural)("$name", async (fault) => {
    // The policy of the hosted control plane is a text, whatever it says.
    const reading = Object.keys(operations).filter((name) => name !== "policy");
    for (const name of reading) {
      await using upstream = await createUpstream((_, response) => fault.answer(response));
      await using asked = ask(tailscaleOptions(upstream.url));
      expect(
        failureOf(await operations[name]?.(asked.provider).catch((thrown: unknown) => thrown))
          ?.class,
        name,
      ).toMatch(/^(decode|too_large)$/);
      expect(upstream.requests).toHaveLength(1);
    }
    for (const name of ours) {
      await using upstream = await createUpstream((_, response) => fault.answer(response));
      await using asked = ask(headscaleOptions(upstream.url));
      expect(
        failureOf(await operations[name]?.(asked.provider).catch((thrown: unknown) => thrown))
          ?.class,
        name,
      ).toMatch(/^(decode|too_large)$/);
    }
  });

  it("members of wrong types, elements that are none and numbers as texts without an error", async () => {
    const element = {
      id: 7,
      nodeId: {},
      tags: 3,
      created: 9,
      keyType: [],
      capabilities: "x",
      status: { matchedCount: "31" },
      deviceCount: "3",
      expiration: [],
      user: 0,
    };
    const members = [
      "devices",
      "users",
      "keys",
      "webhooks",
      "integrations",
      "oauthApps",
      "vipServices",
      "hosts",
      "logs",
      "nodes",
      "preAuthKeys",
      "apiKeys",
    ];
    const answer = {
      ...Object.fromEntries(members.map((name) => [name, [null, "x", [1], element, {}]])),
      policy: "{}",
      attributes: [],
      expiries: 1,
      nameservers: {},
      splitDNS: [],
      searchPaths: "x",
      preferences: 0,
      account: "x",
      numTotalRequests: "12",
    };
    await using upstream = await createUpstream((request, response) =>
      sendJson(response, /invites/.test(request.url ?? "") ? [null, element] : answer),
    );
    await using hosted = ask(tailscaleOptions(upstream.url));
    await using own = ask(headscaleOptions(upstream.url));
    for (const [name, run] of Object.entries(operations))
      await expect(run(hosted.provider), name).resolves.toSatisfy(() => true);
    for (const name of ours)
      await expect(operations[name]?.(own.provider), name).resolves.toSatisfy(() => true);
    expect(await hosted.provider.devices(forever)).toMatchObject([{ id: "7" }, { id: "" }]);
    expect(await hosted.provider.users(forever)).toMatchObject([
      { deviceCount: 3 },
      { deviceCount: undefined },
    ]);
    expect(await hosted.provider.postureIntegrations(forever)).toMatchObject([
      { matched: 31 },
      { matched: 0 },
    ]);
    expect(await hosted.provider.logStream("network", forever)).toMatchObject({ requests: 12 });
    expect(hosted.lines).toContainEqual({
      level: "debug",
      message: expect.stringContaining("were skipped"),
      fields: { endpoint: "devices", count: 3 },
    });
  });
});
