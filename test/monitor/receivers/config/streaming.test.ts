import { describe, expect, it } from "vitest";
import { streamOptions } from "../../../../src/monitor/receivers/config/stream-keys.ts";
import { networkOptions } from "../../../../src/monitor/config/network-options.ts";
import type { NetworkOptions } from "../../../../src/monitor/options.ts";
import { load, sound } from "../../config/load.ts";

const SOURCES = "collectors: {flowlogs: {source: stream}, auditlogs: {source: stream}}";
const LOCAL = "enabled: true, listen: '127.0.0.1:8088'";
const TOKEN = "token: sixteen-characters-at-least";
const ACCESS = "oauth: {client_id: x, client_secret: canary}";
const NETWORKS = `networks: [{name: a, auth: {${ACCESS}}}, {name: b, auth: {${ACCESS}}}, {name: h, provider: headscale, url: 'https://h.example', api_key: k}]`;

const problems = (streaming: string, more = SOURCES): readonly string[] =>
  load(`streaming: {${streaming}}\n${more}`).problems.filter((line) => !line.includes("vpn.auth"));

const monitorOptions = (streaming: string, more = SOURCES): readonly NetworkOptions[] => {
  const { config } = load(`streaming: {${streaming}}\n${more}`);
  if (config === undefined) throw new Error("it is valid");
  return networkOptions(config);
};

describe("the keys of the streaming receiver", () => {
  it("need a token off loopback, and warn without one on this machine", () => {
    expect(problems("enabled: true")).toEqual([
      expect.stringContaining(
        "ERROR streaming.token: is missing, and :8088 can be reached from other machines",
      ),
    ]);
    expect(problems(LOCAL)).toEqual([
      expect.stringContaining("WARNING streaming.token: is missing: every program of this machine"),
    ]);
    expect(problems(`enabled: true, ${TOKEN}`)).toEqual([]);
  });

  it("need a token for each route off loopback", () => {
    const routes = `routes: [{network: a, path: /a, ${TOKEN}}, {network: b, path: /b}]`;
    expect(problems(`enabled: true, ${routes}`, `${SOURCES}\n${NETWORKS}`)).toEqual([
      expect.stringContaining("ERROR streaming.routes[1].token: is missing"),
    ]);
  });

  it.each([
    ["path: services", "streaming.path: must be a path"],
    ["path: /a//b", "streaming.path: must be a path"],
    ["path: /a/../b", "streaming.path: must be a path"],
    ["path: '/a?b'", "streaming.path: must be a path"],
    ["decompress: brotli", "streaming.decompress: must be one of auto, gzip, zstd, none"],
    [
      "routes: [{network: a, path: /a}]",
      "streaming.routes: is for several networks, and there is one",
    ],
    ["public_url: steward.example.org", "streaming.public_url: must be an http or https address"],
    ["public_url: 'https://u:p@h.example/x'", "streaming.public_url: must not contain credentials"],
    [
      "public_url: 'https://h.example/x?token=a'",
      "streaming.public_url: must end with host or path",
    ],
    ["public_url: 'http://192.0.2.7:8088/x'", "streaming.public_url: must be https, or http with"],
    [
      "auto_configure: true",
      "streaming.auto_configure: is true, and the public address is not set",
    ],
    ["tls: {cert_file: /c}", "streaming.tls.key_file: is missing"],
    ["token: x, token_file: /token", "streaming.token: is given twice"],
  ])("refuse %s", (key, message) => {
    expect(problems(`${LOCAL}, ${key}`)).toContainEqual(
      expect.stringContaining(`ERROR ${message}`),
    );
  });

  it("say where the streams of a network should go only when that is to be checked", () => {
    const url = "https://h.example/x";
    const targetOf = (streaming: string, more?: string): unknown =>
      monitorOptions(streaming, more).map(({ streamTarget }) => streamTarget);
    const single = `${SOURCES}\nvpn: {auth: {${ACCESS}}}`;
    expect(targetOf(`${LOCAL}, ${TOKEN}, public_url: '${url}'`, single)).toEqual([undefined]);
    expect(
      targetOf(`${LOCAL}, ${TOKEN}, public_url: '${url}', auto_configure: true`, single),
    ).toEqual([url]);
    const routes = `routes: [{network: a, path: /a, ${TOKEN}, public_url: '${url}', auto_configure: true}, {network: b, path: /b, ${TOKEN}}]`;
    expect(targetOf(`enabled: true, ${routes}`, `${SOURCES}\n${NETWORKS}`)).toEqual([
      url,
      undefined,
      undefined,
    ]);
    expect(
      problems(
        `enabled: true, routes: [{network: a, path: /a, ${TOKEN}, auto_configure: true}]`,
        `${SOURCES}\n${NETWORKS}`,
      ),
    ).toContainEqual(
      expect.stringContaining("ERROR streaming.routes[0].auto_configure: is true, and the public"),
    );
  });

  it.each([
    ["path: /x", "streaming.path: is for a single network, and there are several"],
    ["", "streaming.routes: is empty, and there are several networks"],
    ["routes: [{network: z, path: /z}]", "streaming.routes[0].network: is none of the networks"],
    [
      "routes: [{network: h, path: /h}]",
      "streaming.routes[0].network: is a Headscale, which does not stream logs",
    ],
    [
      "routes: [{network: a, path: /a}, {network: b, path: /a}]",
      'streaming.routes: must have different values of path, "/a" is there twice',
    ],
  ])("refuse %s with several networks", (key, message) => {
    expect(problems(`${LOCAL}, ${key}`, `${SOURCES}\n${NETWORKS}`)).toContainEqual(
      expect.stringContaining(`ERROR ${message}`),
    );
  });

  it("refuse a receiver for a Headscale", () => {
    expect(
      problems(LOCAL, `${SOURCES}\nprovider: headscale\nheadscale: {url: 'https://h', api_key: k}`),
    ).toContainEqual(
      expect.stringContaining("ERROR streaming.enabled: is true, and Headscale does not stream"),
    );
  });

  it("warn of records that come both ways, and of settings without a receiver", () => {
    expect(problems(`${LOCAL}, ${TOKEN}`, "")).toEqual([
      expect.stringContaining("WARNING collectors.flowlogs.source: is poll, and streaming.enabled"),
      expect.stringContaining(
        "WARNING collectors.auditlogs.source: is poll, and streaming.enabled",
      ),
    ]);
    expect(problems("path: /x", "")).toEqual([
      expect.stringContaining("WARNING streaming.path: is ignored: streaming.enabled is false"),
    ]);
  });

  it("read 0 as the default and a negative number as no limit of their own", () => {
    const limits = (bytes: number, requests: number): unknown => {
      const options = streamOptions(
        sound(
          `streaming: {${LOCAL}, max_body_bytes: ${bytes}, max_concurrent_requests: ${requests}}`,
        ),
      );
      return [options?.maxBodyBytes, options?.maxConcurrentRequests];
    };
    expect(limits(0, 0)).toEqual([67_108_864, 4]);
    expect(limits(-1, -1)).toEqual([1024 ** 3, 256]);
    expect(limits(1_000, 7)).toEqual([1_000, 7]);
  });

  it("pass a route for each network on, or one for the only one", () => {
    const of = (streaming: string, more: string): unknown =>
      streamOptions(sound(`streaming: {${LOCAL}, ${streaming}}\n${more}`))?.routes;
    expect(of(TOKEN, "")).toMatchObject([
      {
        path: "/services/collector/event",
        network: undefined,
        token: { origin: expect.anything() as unknown },
      },
    ]);
    expect(of("routes: [{network: b, path: /b}, {network: a, path: /a}]", NETWORKS)).toMatchObject([
      { path: "/b", network: "b", token: undefined },
      { path: "/a", network: "a", token: undefined },
    ]);
    expect(streamOptions(sound())).toBeUndefined();
  });
});
