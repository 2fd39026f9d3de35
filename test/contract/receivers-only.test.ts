/** Receivers of networks whose control plane is not called: there is no credential for it. */
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { removeTemporaryFolders, rest, runSteward, temporaryFolder } from "./daemon.ts";
import { audit, flow, Site, text, wrapped } from "./ingress-site.ts";
import type { Section } from "./monitor-estate.ts";
import { post, startReceiving, TOKEN } from "./receivers.ts";

afterAll(removeTemporaryFolders);

const SOON = { timeout: 60_000, interval: 50 };
const listen = "127.0.0.1:0";
const open: Site[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one[Symbol.asyncDispose]();
});

/** A daemon that knows the address of the control plane, and no credential for it. */
async function startSite(sections: Section = {}): Promise<Site> {
  const site = await Site.make();
  open.push(site);
  await site.start({
    vpn: { network: "push.test", url: site.estate.tailscale.url },
    otlp: { metric_interval: "100ms" },
    // A lookup would fail, and the log say so.
    version_checks: { devices: { url: "http://127.0.0.1:1/" } },
    ...sections,
  });
  return site;
}

async function get(site: Site, path: string): Promise<any> {
  return (await rest(site.daemon as never, "GET", path)).json;
}

const componentsOf = (status: any, names: readonly string[]): object[] =>
  status.components.filter(({ name }: { name: string }) => names.includes(name));

describe("a network without a credential", () => {
  it("has what its receivers get counted, exported, stored and shown, and is not called", async () => {
    const site = await startSite();
    await site.ready();
    const streamed = await site.stream(text(wrapped(audit("pushed")), wrapped(flow())));
    expect([streamed.status, streamed.headers["steward-durability"]]).toEqual([200, "disk"]);
    const event = { timestamp: new Date().toISOString(), version: 1, type: "test", message: "hi" };
    expect((await site.webhook(JSON.stringify([event]))).status).toBe(200);

    const sum = (metric: string): number | undefined =>
      site.exported
        .points()
        .findLast(
          (point) => point.metric === metric && point.attributes["vpn.network"] === "push.test",
        )?.value;
    await vi.waitFor(() => {
      expect(
        ["vpn.network.flows", "vpn.webhook.events", "vpn.config.audit.events"].map(sum),
      ).toEqual([1, 1, 1]);
      expect(site.audits()).toEqual(new Map([["pushed", 1]]));
    }, SOON);
    await vi.waitFor(async () => {
      expect((await get(site, "/api/flows.json")).recent_matched).toBe(1);
      expect((await get(site, "/api/events.json")).matched).toBe(2);
    }, SOON);

    const status = await vi.waitFor(async () => {
      const shown = await get(site, "/api/status.json");
      expect([shown.health, shown.health_reasons]).toEqual(["healthy", undefined]);
      return shown;
    }, SOON);
    expect(componentsOf(status, ["stream", "webhook", "ingress_wal"])).toEqual(
      ["stream", "webhook", "ingress_wal"].map((name) => ({ name, enabled: true, failed: false })),
    );
    expect([status.services.monitor, status.provider, status.service.network]).toEqual([
      "ready",
      "tailscale",
      "push.test",
    ]);
    expect([status.collectors, status.capability_matrix, status.api.auth.method]).toEqual([
      [],
      [],
      "",
    ]);
    expect(status.advisories).toContainEqual({
      key: "vpn.auth",
      message: expect.stringContaining("nothing is collected"),
    });
    expect(site.estate.tailscale.requests()).toEqual({});
    const log = site.daemon?.stderr.join("\n");
    expect(log).toContain("only the receivers are served and nothing is collected");
    expect(log).not.toContain("latest client version");
  });

  it("keeps the process from being ready while the port of its receiver is taken", async () => {
    const squatter = createServer().listen(0, "127.0.0.1");
    await once(squatter, "listening");
    const address = `127.0.0.1:${(squatter.address() as AddressInfo).port}`;
    const site = await startSite({ streaming: { enabled: true, listen: address, token: TOKEN } });
    const reason = `${address} is already in use by another process`;
    await vi.waitFor(
      async () => expect(await site.readyz()).toBe(`503 component failure: stream: ${reason}`),
      SOON,
    );
    await vi.waitFor(
      async () =>
        expect(componentsOf(await get(site, "/api/status.json"), ["stream"])).toEqual([
          { name: "stream", enabled: true, failed: true, reason },
        ]),
      SOON,
    );
    squatter.close();
    await site.ready();
    expect((await site.stream(text(wrapped(flow())))).status).toBe(200);
  });

  it("has a route beside a network that is collected, whose settings stay as they are", async () => {
    await using receiving = await startReceiving(({ tailscale }) => ({
      vpn: { url: tailscale.url },
      networks: [
        { name: "pushed.test" },
        {
          name: tailscale.tailnet,
          auth: {
            oauth: {
              client_id: tailscale.credentials.clientId,
              client_secret: tailscale.credentials.clientSecret,
            },
          },
        },
      ],
      streaming: {
        enabled: true,
        listen,
        routes: [
          { network: "pushed.test", path: "/pushed", token: TOKEN },
          { network: tailscale.tailnet, path: "/corp", token: TOKEN },
        ],
      },
    }));
    const headers = { authorization: `Splunk ${TOKEN}` };
    const sent = { headers, body: JSON.stringify(flow()) };
    expect((await post(receiving.port("stream"), { ...sent, path: "/pushed" })).status).toBe(200);
    await vi.waitFor(
      () => expect(receiving.sum("vpn.network.flows", { "vpn.network": "pushed.test" })).toBe(1),
      SOON,
    );
    const status = (await rest(receiving.daemon, "GET", "/api/status.json")).json;
    // The first network is the one that the parts of the status without a network describe.
    expect(
      status.networks.map((network: any) => [
        network.name,
        network.auth_method,
        network.collectors.length > 0,
      ]),
    ).toEqual([
      [receiving.estate.tailscale.tailnet, "oauth", true],
      ["pushed.test", "", false],
    ]);
  });

  it("has nothing to collect for a preflight", async () => {
    const { code, stdout } = await runSteward(["-preflight"], {
      env: {
        STEWARD_STATE__DIRECTORY: temporaryFolder(),
        STEWARD_STREAMING__ENABLED: "true",
        STEWARD_STREAMING__LISTEN: listen,
      },
    });
    expect([code, stdout]).toEqual([
      await codeOfIdle(),
      expect.stringContaining("nothing to collect: no credential of a control plane"),
    ]);
  });
});

/** Exit code of a preflight without any configuration. */
async function codeOfIdle(): Promise<number | null> {
  const { code } = await runSteward(["-preflight"], {
    env: { STEWARD_STATE__DIRECTORY: temporaryFolder() },
  });
  return code;
}
