import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { pageAssets } from "../../../../gateway/web/assets.ts";
import { parseStatus } from "../../../../gateway/web/landing/read-status.ts";
import {
  landingRoute,
  monitorRoutes,
  type LandingDeps,
} from "../../../../gateway/web/landing/route.ts";
import {
  GetStatusResponseSchema,
  StatusService,
} from "../../../../src/gen/steward/monitor/v1/status_service_pb.ts";
import { Health, StatusSchema } from "../../../../src/gen/steward/monitor/v1/status_pb.ts";
import { systemClock } from "../../../../src/kernel/base/clock.ts";
import { Secret } from "../../../../src/kernel/base/secret.ts";
import { writeRestJson } from "../../../../src/kernel/wire/rest-json.ts";
import { createManualClock } from "../../../kernel/supervisor/manual-clock.ts";
import { startGateway } from "../../start-gateway.ts";
import { fullStatus, healthyStatus, summary } from "../fixtures/status.ts";

const assets = pageAssets();
const LINKS = [
  { href: "/", label: "Status" },
  { href: "/monitor", label: "Monitor" },
];

const SEALED = {
  state: "bad",
  word: "sealed",
  leases: undefined,
  mounts: undefined,
  irrevocable: undefined,
} as const;

async function start(
  deps: Partial<LandingDeps>,
  demo = false,
  auth: Parameters<typeof startGateway>[0] = {},
  options: { readonly api?: boolean } = {},
): Promise<string> {
  const all: LandingDeps = { summary: () => summary, assets, clock: systemClock, ...deps };
  const given = { demo, version: "1.2.3", links: LINKS, ...options };
  return (
    await startGateway({
      services: [],
      plain: [landingRoute(all, given), ...monitorRoutes(all, { ...given, alone: false })],
      ...auth,
    })
  ).url;
}

function cardOf(body: string, title: string): string {
  return (
    body
      .split('<section class="card')
      .find((each) => new RegExp(`<h2>(<a [^>]*>)?${title}<`).test(each)) ?? ""
  );
}

describe("the landing page's route", () => {
  it("answers with a page that may load nothing from elsewhere and run nothing inline", async () => {
    const answer = await fetch(await start({ status: () => Promise.resolve(fullStatus()) }));
    const body = await answer.text();
    const policy = answer.headers.get("content-security-policy") ?? "";
    expect(policy).not.toContain("unsafe");
    for (const rule of [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self' data:",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ])
      expect(policy).toContain(rule);
    expect(
      Object.fromEntries(
        ["content-type", "x-content-type-options", "referrer-policy", "cache-control"].map(
          (name) => [name, answer.headers.get(name)],
        ),
      ),
    ).toEqual({
      "content-type": "text/html; charset=utf-8",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cache-control": "private, no-cache",
    });
    expect(body).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc="\/assets\/)/);
    expect(
      [...body.matchAll(/(?:src|href)="([^"]+)"/g)]
        .map((match) => match[1] ?? "")
        .filter(
          (url) => !/^(\/|#|\?|data:image\/svg\+xml|https:\/\/releases\.example\/)/.test(url),
        ),
    ).toEqual([]);
  });

  it("answers HEAD like GET, and nothing else", async () => {
    const url = await start({ status: () => Promise.resolve(fullStatus()) });
    expect((await fetch(url, { method: "HEAD" })).headers.get("content-type")).toBe(
      "text/html; charset=utf-8",
    );
    const refused = await fetch(url, { method: "POST" });
    expect([refused.status, refused.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  });

  it("is the administrator's, and what it loads is anybody's: Steward's own code", async () => {
    const url = await start({ status: () => Promise.resolve(fullStatus()) }, false, {
      auth: {
        token: Secret.of("operator-token", "test"),
        adminToken: Secret.of("admin-token", "test"),
        allowedHosts: [],
      },
    });
    const statusOf = async (path: string, authorization: string): Promise<number> =>
      (await fetch(`${url}${path}`, { headers: { authorization } })).status;
    expect([
      await statusOf("/", "Bearer operator-token"),
      await statusOf("/", `Basic ${btoa("anybody:admin-token")}`),
    ]).toEqual([401, 200]);
    expect((await fetch(`${url}${assets.url("steward.css")}`)).status).toBe(200);
  });

  it("comes packed and tagged, and is 304 for who has it already", async () => {
    const clock = createManualClock();
    const url = await start({ status: () => Promise.resolve(fullStatus()), clock });
    const first = await fetch(url, { headers: { "accept-encoding": "gzip" } });
    expect([
      first.headers.get("content-encoding"),
      first.headers.get("vary"),
      first.headers.get("cache-control"),
    ]).toEqual(["gzip", "accept-encoding", "private, no-cache"]);
    expect(await first.text()).toBe(
      await (await fetch(url, { headers: { "accept-encoding": "identity" } })).text(),
    );
    const known = { "if-none-match": first.headers.get("etag") ?? "" };
    const again = await fetch(url, { headers: known });
    expect([again.status, again.headers.get("etag"), await again.text()]).toEqual([
      304,
      known["if-none-match"],
      "",
    ]);
    expect((await fetch(url, { method: "HEAD", headers: known })).status).toBe(304);
    await clock.advance(1000);
    expect((await fetch(url, { headers: known })).status).toBe(200);
  });

  it("has cards that lead on where this listener serves what they lead to", async () => {
    const cards = async (url: string): Promise<(string | undefined)[]> =>
      [...(await (await fetch(url)).text()).matchAll(/<a class="whole" href="([^"]+)"/g)].map(
        (match) => match[1],
      );
    expect(await cards(await start({ status: () => Promise.resolve(fullStatus()) }))).toEqual([
      "/devices",
      "/duplicates",
      "/tokens",
    ]);
    expect(
      await cards(
        await start({ status: () => Promise.resolve(fullStatus()) }, false, {}, { api: false }),
      ),
    ).toEqual(["/devices", "/tokens"]);
  });

  it("says that it is a demo, and only then", async () => {
    expect(await (await fetch(await start({}, true))).text()).toContain("This is a demo.");
    expect(await (await fetch(await start({}))).text()).not.toContain("This is a demo.");
  });

  it("shows the other services when the monitor is off, and asks nothing of it", async () => {
    const body = await (await fetch(await start({}))).text();
    for (const text of ["Healthy", "the monitor is off", "1,284", "services.monitor: true"])
      expect(body).toContain(text);
    expect(body).not.toContain("/api/status.json");
    expect(body).toContain(assets.url("plain.js"));
  });

  it("says which services are switched off and how to switch them on", async () => {
    const body = await (await fetch(await start({ summary: () => ({}) }))).text();
    for (const service of ["monitor", "dedup", "tokens"])
      expect(body).toContain(`services.${service}: true`);
  });

  it("comes without a monitor that fails, with the reason", async () => {
    const body = await (
      await fetch(
        await start({ status: () => Promise.reject(new Error("its thread <b>ended</b>")) }),
      )
    ).text();
    for (const text of [
      "Degraded",
      "the monitor does not answer",
      "its thread &lt;b&gt;ended&lt;/b&gt;",
      "1,284",
    ])
      expect(body).toContain(text);
  });

  it("waits three seconds for a monitor, not longer", async () => {
    const clock = createManualClock();
    const asked = Promise.withResolvers<AbortSignal>();
    const url = await start({
      clock,
      status: (signal) => {
        asked.resolve(signal);
        return new Promise(() => undefined);
      },
    });
    const answer = fetch(url);
    const signal = await asked.promise;
    await clock.advance(2999);
    expect(signal.aborted).toBe(false);
    await clock.advance(1);
    expect(await (await answer).text()).toContain("the monitor does not answer");
    expect(signal.aborted).toBe(true);
  });

  it("is degraded while another service is, whatever the monitor finds: why, what to do and where to read on; and its card says so in the same colour", async () => {
    const problems = [
      {
        part: "tokens",
        reason: "component tokens: sealed",
        remedy: "give the key to sys/unseal",
        link: "/v1/sys/health",
      },
    ];
    const body = await (
      await fetch(
        await start({
          status: () => Promise.resolve(healthyStatus()),
          summary: () => ({ ...summary, tokens: SEALED, problems }),
        }),
      )
    ).text();
    for (const text of [
      "<strong>Degraded</strong>",
      "component tokens: sealed",
      "give the key to sys/unseal",
      '<a href="/v1/sys/health">',
    ])
      expect(body).toContain(text);
    expect(cardOf(body, "Tokens")).toMatch(
      /badge bad.*sealed.*Live leases<\/dt><dd>–<.*Mounts<\/dt><dd>–<.*Irrevocable<\/dt><dd>–</,
    );
    expect(cardOf(body, "Archive")).toMatch(/badge good/);
    const off = await (
      await fetch(await start({ summary: () => ({ ...summary, tokens: SEALED, problems }) }))
    ).text();
    for (const text of ["<strong>Degraded</strong>", "give the key to sys/unseal"])
      expect(off).toContain(text);
  });

  it("shows a service by what was found last, not by a status made earlier in the same second", async () => {
    const clock = createManualClock();
    const atMs = Math.ceil(clock.now() / 1000) * 1000;
    await clock.advance(atMs + 600 - clock.now());
    const status = { ...healthyStatus(), generated_at: new Date(atMs + 200).toISOString() };
    const problems = [{ part: "tokens", reason: "component tokens: sealed", link: "" }];
    const body = await (
      await fetch(
        await start({
          clock,
          status: () => Promise.resolve(status),
          summary: () => ({ ...summary, tokens: SEALED, problems }),
        }),
      )
    ).text();
    expect(body).toContain("<strong>Degraded</strong>");
    expect(cardOf(body, "Tokens")).toMatch(/badge bad.*sealed/);
  });

  it("leads with a link to nowhere but its own origin", async () => {
    const problems = [
      "//elsewhere.example",
      "https://elsewhere.example",
      "javascript:alert(1)",
      "#collectors",
      "/monitor#collectors",
    ].map((link) => ({ part: "x", reason: link, link }));
    const body = await (
      await fetch(
        await start({
          status: () => Promise.resolve(healthyStatus()),
          summary: () => ({ ...summary, problems }),
        }),
      )
    ).text();
    expect(
      [...body.matchAll(/<ul class="reasons">.*?<\/ul>/g)].flatMap(([list]) =>
        [...list.matchAll(/href="([^"]*)"/g)].map(([, href]) => href),
      ),
    ).toEqual(["/monitor#collectors"]);
  });

  it("keeps what a reader chose in the address", async () => {
    const body = await (
      await fetch(
        `${await start({ status: () => Promise.resolve(fullStatus()) })}/monitor?network=lab&devices.q=atlas`,
      )
    ).text();
    expect(body).toContain('value="atlas"');
    expect(body).toContain('href="?network=lab&amp;devices.q=atlas" aria-current="true">lab</a>');
  });
});

describe("the status of a page", () => {
  it("is what REST answers with, from the message or from its bytes", () => {
    const message = create(StatusSchema, {
      schemaVersion: 1,
      health: Health.DEGRADED,
      healthReasons: ["x"],
      refreshMs: 5000,
    });
    expect(
      parseStatus(
        writeRestJson(
          StatusService.method.getStatus,
          create(GetStatusResponseSchema, { status: message }),
        ),
      ),
    ).toMatchObject({
      schema_version: 1,
      health: "degraded",
      health_reasons: ["x"],
      refresh_ms: 5000,
    });
    expect(parseStatus(new TextEncoder().encode('{"provider":"tailscale"}'))).toEqual({
      provider: "tailscale",
    });
  });
});
