import { describe, expect, it } from "vitest";
import { webhookOptions } from "../../../../src/monitor/receivers/config/webhook-keys.ts";
import { load, sound } from "../../config/load.ts";

const LOCAL = "enabled: true, listen: '127.0.0.1:8089'";
const ACCESS = "oauth: {client_id: x, client_secret: canary}";
const NETWORKS = `networks: [{name: a, auth: {${ACCESS}}}, {name: h, provider: headscale, url: 'https://h.example', api_key: k}]`;

const problems = (webhook: string, more = ""): readonly string[] =>
  load(`webhook: {${webhook}}\n${more}`).problems.filter((line) => !line.includes("vpn.auth"));

describe("the keys of the webhook receiver", () => {
  it("need a secret off loopback, and warn without one on this machine", () => {
    expect(problems("enabled: true")).toEqual([
      expect.stringContaining(
        "ERROR webhook.secret: is missing, and :8089 can be reached from other machines — set STEWARD_WEBHOOK__SECRET_FILE",
      ),
    ]);
    expect(problems(LOCAL)).toEqual([
      expect.stringContaining("WARNING webhook.secret: is missing: every program of this machine"),
    ]);
    expect(problems("enabled: true, secret: sixteen-characters-at-least")).toEqual([]);
    expect(problems("enabled: true, routes: [{network: a}]", NETWORKS)).toEqual([
      expect.stringContaining("ERROR webhook.routes[0].secret: is missing"),
    ]);
  });

  it.each([
    ["path: webhook", "webhook.path: must be a path"],
    ["tolerance: soon", "webhook.tolerance: must be a duration"],
    ["routes: [{network: a}]", "webhook.routes: is for several networks, and there is one"],
    ["tls: {key_file: /k}", "webhook.tls.cert_file: is missing"],
  ])("refuse %s", (key, message) => {
    expect(problems(`${LOCAL}, ${key}`)).toContainEqual(
      expect.stringContaining(`ERROR ${message}`),
    );
  });

  it("refuse a plain secret and a Headscale with several networks", () => {
    expect(problems(`${LOCAL}, secret: x, routes: [{network: h}]`, NETWORKS)).toEqual(
      expect.arrayContaining([
        expect.stringContaining("ERROR webhook.secret: is for a single network"),
        expect.stringContaining(
          "ERROR webhook.routes[0].network: is a Headscale, which sends no webhooks",
        ),
      ]),
    );
    expect(
      problems(LOCAL, "provider: headscale\nheadscale: {url: 'https://h', api_key: k}"),
    ).toContainEqual(
      expect.stringContaining("ERROR webhook.enabled: is true, and Headscale sends no webhooks"),
    );
  });

  it("pass their limits on", () => {
    expect(webhookOptions(sound(`webhook: {${LOCAL}, max_body_bytes: 0}`))).toMatchObject({
      maxBodyBytes: 1_048_576,
      maxConcurrentRequests: 4,
      toleranceMs: 300_000,
      dedupAuditEvents: false,
      path: "/tailscale/webhook",
      routes: [{ network: undefined, secret: undefined }],
    });
    expect(webhookOptions(sound())).toBeUndefined();
  });
});
