import { rootCertificates } from "node:tls";
import { describe, expect, it } from "vitest";
import { parseAddress, type Address } from "../../../../src/kernel/config/values/address.ts";
import { adminKeys } from "../../../../src/daemon/config/admin-keys.ts";
import { formatFinding } from "../../../../src/kernel/config/findings.ts";
import { processKeys } from "../../../../src/daemon/config/process-keys.ts";
import { defineSchema } from "../../../../src/kernel/config/key.ts";
import { listenersApart, sharesSocket } from "../../../../src/daemon/config/listeners.ts";
import { loadConfig, type LoadResult } from "../../../../src/kernel/config/load.ts";
import {
  scrapeClientCertificates,
  scrapeKeys,
  scrapeOptions,
  checkScrape,
} from "../../../../src/kernel/telemetry/config/scrape-keys.ts";
import { gatewayKeys } from "../../../../gateway/config.ts";
import { streamingSchema } from "../../../../src/monitor/receivers/config/stream-keys.ts";
import { webhookSchema } from "../../../../src/monitor/receivers/config/webhook-keys.ts";
import { stateKeys } from "../../../../src/kernel/state/backups/state-keys.ts";

const schema = defineSchema(
  gatewayKeys,
  stateKeys,
  processKeys,
  adminKeys,
  scrapeKeys,
  streamingSchema,
  webhookSchema,
);
const cert = rootCertificates[0] ?? "";

function load(yaml: string): LoadResult {
  const files: Record<string, string> = {
    "f.yaml": yaml,
    "/ca": cert,
    "/junk": "-----BEGIN CERTIFICATE-----\nnone",
  };
  return loadConfig({
    file: "f.yaml",
    environment: { HOME: "/" },
    schema,
    checks: [checkScrape, scrapeClientCertificates, listenersApart],
    readFile: (path) => files[path] ?? "",
  });
}
const problems = (yaml: string): string[] => load(yaml).findings.map(formatFinding);

describe("the pull listener", () => {
  it("is off unless asked for, and then nothing of it is judged", () => {
    const { config, findings } = load(
      "scrape: {max_requests_in_flight: 0}\ngateway: {listen: 'localhost:2112'}",
    );
    expect(findings).toEqual([]);
    expect(config && scrapeOptions(config)).toBeUndefined();
  });

  it.each([-1, 0, 10_001])("takes %i scrapes in flight while it is off", (count) => {
    expect(problems(`scrape: {max_requests_in_flight: ${count}}`)).toEqual([]);
  });

  it("takes no text for the scrapes in flight, on or off", () => {
    for (const enabled of [true, false])
      expect(
        problems(
          `scrape: {enabled: ${enabled}, listen: 'localhost:1', max_requests_in_flight: many}`,
        ),
      ).toEqual([
        expect.stringContaining("ERROR scrape.max_requests_in_flight: must be a whole number"),
      ]);
  });

  it("is told with everything settled", () => {
    const { config } = load(
      "scrape: {enabled: true, listen: '127.0.0.1:0', auth: {token: canary}, tls: {cert_file: /c, key_file: /k, client_ca_file: /ca}}",
    );
    expect(config && scrapeOptions(config)).toMatchObject({
      listen: { host: "127.0.0.1", port: 0 },
      allowUnauthenticated: false,
      maxInFlight: 4,
      timeoutMs: 8_000,
      coalesce: true,
      tls: { certFile: "/c", keyFile: "/k", clientCaFile: "/ca", clientAuth: "require_and_verify" },
    });
    expect(JSON.stringify(config?.effective({ provenance: true }))).not.toContain("canary");
  });

  it.each([
    [
      "enabled: true, max_requests_in_flight: 0, listen: 'localhost:1'",
      "ERROR scrape.max_requests_in_flight: must be from 1 to 10000 while scrape.enabled is true",
    ],
    [
      "enabled: true, max_requests_in_flight: -1, listen: 'localhost:1'",
      "ERROR scrape.max_requests_in_flight: must be from 1 to 10000 while scrape.enabled is true",
    ],
    [
      "enabled: true, max_requests_in_flight: 10001, listen: 'localhost:1'",
      "ERROR scrape.max_requests_in_flight: must be from 1 to 10000 while scrape.enabled is true",
    ],
    [
      "enabled: true",
      "WARNING scrape.listen: :2112 can be reached from other machines and every pull is answered 403",
    ],
    [
      "enabled: true, listen: '127.0.0.1:8400'",
      "ERROR scrape.listen: 127.0.0.1:8400 is also the address of gateway.listen",
    ],
    [
      "enabled: true, listen: ':8400', auth: {token: x}",
      "ERROR scrape.listen: :8400 is also the address of gateway.listen",
    ],
    [
      "tls: {client_auth: require_and_verify}",
      "ERROR scrape.tls.client_auth: require_and_verify needs scrape.tls.client_ca_file",
    ],
    [
      "tls: {client_auth: verify_if_given, cert_file: /c, key_file: /k}",
      "ERROR scrape.tls.client_auth: verify_if_given needs scrape.tls.client_ca_file",
    ],
    [
      "tls: {client_auth: require}",
      "ERROR scrape.tls.client_auth: require needs scrape.tls.cert_file",
    ],
    [
      "tls: {client_ca_file: /ca}",
      "ERROR scrape.tls.client_ca_file: needs scrape.tls.cert_file and scrape.tls.key_file",
    ],
    [
      "tls: {client_ca_file: /junk, cert_file: /c, key_file: /k}",
      "ERROR scrape.tls.client_ca_file: /junk holds no PEM certificate that can be read",
    ],
    [
      "tls: {client_auth: maybe}",
      "ERROR scrape.tls.client_auth: must be one of none, request, require, verify_if_given, require_and_verify",
    ],
    ["listen: here", "ERROR scrape.listen: must be host:port"],
  ])("is judged: %s", (fields, expected) => {
    expect(problems(`scrape: {${fields}}`)).toEqual([expect.stringContaining(expected)]);
  });

  it.each([
    "auth: {token: x}",
    "auth: {allow_unauthenticated: true}",
    "listen: '127.0.0.1:2112'",
    "listen: '[::1]:2112'",
  ])("may answer where somebody decided so: %s", (fields) => {
    expect(problems(`scrape: {enabled: true, ${fields}}`)).toEqual([]);
  });
});

describe("two addresses", () => {
  const address = (text: string): Address => parseAddress(text) ?? { host: "?", port: 0 };

  it.each([
    ["127.0.0.1:1", "localhost:1"],
    [":1", "127.0.0.1:1"],
    ["0.0.0.0:1", "[::1]:1"],
    ["[::]:1", "10.0.0.1:1"],
    ["[::1]:1", "[0:0:0:0:0:0:0:1]:1"],
    ["[::ffff:127.0.0.1]:1", "127.0.0.1:1"],
    ["Host:1", "host:1"],
  ])("%s and %s are one socket", (left, right) => {
    expect([
      sharesSocket(address(left), address(right)),
      sharesSocket(address(right), address(left)),
    ]).toEqual([true, true]);
  });

  it.each([
    ["127.0.0.1:1", "127.0.0.1:2"],
    ["127.0.0.1:1", "127.0.0.2:1"],
    [":0", ":0"],
    ["[::1]:1", "127.0.0.1:1"],
  ])("%s and %s are not", (left, right) => {
    expect(sharesSocket(address(left), address(right))).toBe(false);
  });
});
