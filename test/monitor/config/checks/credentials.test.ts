import { describe, expect, it } from "vitest";
import { load } from "../load.ts";

const CLIENT = "oauth: {client_id: x, client_secret: canary}";

describe("the credential of a single network", () => {
  it.each([
    [
      "vpn: {auth: {oauth: {client_id: x}}}",
      "WARNING vpn.auth.oauth.client_secret: is missing: half an OAuth client is none, and nothing is collected",
    ],
    [
      "vpn: {auth: {oauth: {client_secret: canary}}}",
      "WARNING vpn.auth.oauth.client_id: is missing",
    ],
    [
      "vpn: {auth: {method: apikey, apikey: canary}}",
      "WARNING vpn.auth.method: apikey uses a key that belongs to a user and expires after at most 90 days",
    ],
    ["vpn: {auth: {method: apikey}}", "WARNING vpn.auth.apikey: is missing with the method apikey"],
    ["vpn: {auth: {apikey: canary}}", "WARNING vpn.auth.apikey: is ignored: the method is oauth"],
    [
      "vpn: {auth: {method: workload_identity, workload_identity: {id_token_file: /token}}}",
      "ERROR vpn.auth.workload_identity.client_id: is missing",
    ],
    [
      "vpn: {auth: {method: workload_identity, workload_identity: {client_id: x}}}",
      "ERROR vpn.auth.workload_identity.id_token_file: is missing",
    ],
    [
      "vpn: {auth: {method: workload_identity, workload_identity: {client_id: x, id_token_file: /gone}}}",
      "ERROR vpn.auth.workload_identity.id_token_file: /gone cannot be read",
    ],
    [
      "headscale: {url: 'https://hs'}",
      "WARNING headscale.url: is ignored: the provider is tailscale (line 1)",
    ],
  ])("is whole: %s", (yaml, expected) => {
    const { config, problems } = load(yaml, {}, { "/token": "x" });
    expect(problems).toEqual([expect.stringContaining(expected)]);
    expect(config === undefined).toBe(expected.startsWith("ERROR"));
    expect(problems.join()).not.toContain("canary");
  });

  it.each([
    `vpn: {auth: {${CLIENT}}}`,
    "vpn: {auth: {method: workload_identity, workload_identity: {client_id: x, id_token_file: /token}}}",
    "provider: headscale\nheadscale: {url: 'https://hs', api_key: k}",
  ])("is nothing to talk about when it is: %s", (yaml) => {
    expect(load(yaml, {}, { "/token": "x" }).problems).toEqual([]);
  });

  it("is needed with headscale", () => {
    expect(load("provider: headscale").problems).toEqual([
      "ERROR headscale.url: is missing with provider headscale — write e.g. https://headscale.example.org.",
      "ERROR headscale.api_key: is missing with provider headscale — set STEWARD_HEADSCALE__API_KEY_FILE.",
    ]);
  });
});

describe("the credentials of several networks", () => {
  const two = (first: string, rest = ""): string =>
    `networks: [{name: a, ${first}}, {name: b, auth: {${CLIENT}}}]\n${rest}`;

  it.each([
    [
      two(`auth: {${CLIENT}}`, "vpn: {network: example.org}"),
      "ERROR vpn.network: names a single network, and networks are configured (line 2)",
    ],
    [
      two(`auth: {${CLIENT}}`, "vpn: {auth: {oauth: {client_id: x}}}"),
      "WARNING vpn.auth.oauth.client_id: is ignored: each of the networks has its own (line 2)",
    ],
    [
      two(`auth: {${CLIENT}}`, "headscale: {api_key: canary}"),
      "WARNING headscale.api_key: is ignored: each of the networks has its own",
    ],
    [
      two("http: {timeout: 1s}"),
      "WARNING networks[0].auth: is missing: nothing is collected from this network",
    ],
    [
      two("auth: {oauth: {client_id: x}}"),
      "WARNING networks[0].auth.oauth.client_secret: is missing: half an OAuth client",
    ],
    [
      two("auth: {method: workload_identity, workload_identity: {client_id: x}}"),
      "ERROR networks[0].auth.workload_identity.id_token_file: is missing",
    ],
    [
      two(`auth: {${CLIENT}}, api_key: canary`),
      "WARNING networks[0].api_key: is ignored: it is a key of Headscale",
    ],
    [
      two("provider: headscale, api_key: canary"),
      "ERROR networks[0].url: is missing with provider headscale",
    ],
    [
      two("provider: headscale, url: 'https://hs'"),
      "ERROR networks[0].api_key: is missing with provider headscale",
    ],
    [
      two("provider: headscale, url: 'http://hs.example.org', api_key: canary"),
      "WARNING networks[0].url: is plain HTTP",
    ],
    [
      two(`auth: {${CLIENT}}`).replace("name: b", "name: a"),
      'ERROR networks: must have different names, "a" is there twice',
    ],
    [
      two(`auth: {${CLIENT}}`).replace("name: b", "name: '-'"),
      "ERROR networks: must not contain - when there are several networks",
    ],
    [
      two("auth: {oauth: {client_idd: x}}"),
      "ERROR networks[0].auth.oauth.client_idd: is not a known key (line 1) — did you mean client_id?",
    ],
    [
      two("name: a/b").replace("name: a, ", ""),
      "ERROR networks[0].name: must be a name of 1 to 253 characters without /",
    ],
  ])("are judged one by one: %s", (yaml, expected) => {
    const { problems } = load(yaml);
    expect(problems[0]).toContain(expected);
    expect(problems.join()).not.toContain("canary");
  });

  it("may be of both control planes", () => {
    expect(
      load(
        "networks: [{name: hosted, auth: {oauth: {client_id: x, client_secret_file: k}}}, {name: home, provider: headscale, url: 'https://hs', api_key_file: k}]",
        {},
        { "/etc/steward/k": "x" },
      ).problems,
    ).toEqual([]);
  });
});
