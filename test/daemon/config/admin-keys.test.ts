import { describe, expect, it } from "vitest";
import {
  adminEnabled,
  adminKeys,
  adminLandingPage,
  adminListen,
  adminRefreshInterval,
  checkAdmin,
  adminTls,
  adminToken,
} from "../../../src/daemon/config/admin-keys.ts";
import { formatFinding } from "../../../src/kernel/config/findings.ts";
import { processKeys } from "../../../src/daemon/config/process-keys.ts";
import { defineSchema } from "../../../src/kernel/config/key.ts";
import { listenersApart } from "../../../src/daemon/config/listeners.ts";
import { loadConfig, type LoadResult } from "../../../src/kernel/config/load.ts";
import { scrapeKeys } from "../../../src/kernel/telemetry/config/scrape-keys.ts";
import { gatewayKeys } from "../../../gateway/config.ts";
import { streamingSchema } from "../../../src/monitor/receivers/config/stream-keys.ts";
import { webhookSchema } from "../../../src/monitor/receivers/config/webhook-keys.ts";
import { stateKeys } from "../../../src/kernel/state/backups/state-keys.ts";

const schema = defineSchema(
  gatewayKeys,
  stateKeys,
  processKeys,
  scrapeKeys,
  streamingSchema,
  webhookSchema,
  adminKeys,
);
const long = "0123456789abcdef";

function load(yaml: string, environment: Record<string, string> = {}): LoadResult {
  return loadConfig({
    file: "f.yaml",
    environment: { HOME: "/", ...environment },
    schema,
    checks: [adminTls.check, checkAdmin, listenersApart],
    readFile: (path) => (path === "f.yaml" ? yaml : long),
  });
}
const problems = (yaml: string): string[] => load(yaml).findings.map(formatFinding);

describe("the keys of the admin surface", () => {
  it("need nothing: it is served on the gateway, asks every five seconds, and has no token of its own", () => {
    const { config, findings } = load("{}");
    expect(findings).toEqual([]);
    expect(
      config &&
        [adminEnabled, adminLandingPage, adminListen, adminRefreshInterval, adminToken].map((key) =>
          config.get<unknown>(key),
        ),
    ).toEqual([true, true, undefined, 5_000, undefined]);
  });

  it("show a listener that is not set as nothing, and of the token only where it was written", () => {
    const rows = (result: LoadResult): object =>
      Object.fromEntries(
        (result.config?.effective({ provenance: false }) ?? [])
          .filter(({ key }) => key.startsWith("admin."))
          .map(({ key, ...row }) => [key, row]),
      );
    expect(rows(load("{}"))).toMatchObject({
      "admin.listen": {},
      "admin.auth.token": { secret: true, set: false, source: "unset" },
      "admin.status_refresh_interval": { value: "5s" },
    });
    const written = rows(
      load("admin: {listen: 'localhost:9091'}", { STEWARD_ADMIN__AUTH__TOKEN_FILE: "/token" }),
    );
    expect(written).toMatchObject({
      "admin.listen": { value: "localhost:9091" },
      "admin.auth.token": { secret: true, set: true, source: "file" },
    });
    expect(JSON.stringify(written)).not.toContain(long);
  });

  it.each([
    [
      "listen: ':9091'",
      "ERROR admin.listen: :9091 can be reached from other machines and there is neither admin.auth.token nor auth.token",
    ],
    [
      "listen: 'localhost:8400'",
      "ERROR admin.listen: localhost:8400 is also the address of gateway.listen",
    ],
    ["listen: here", "ERROR admin.listen: must be host:port"],
    ["tls: {cert_file: /c}", "ERROR admin.tls.key_file: is missing, admin.tls.cert_file is set"],
    [
      "status_refresh_interval: 10ms",
      "ERROR admin.status_refresh_interval: must be 0 or at least 100ms",
    ],
    ["status_refresh_interval: 1000h", "ERROR admin.status_refresh_interval: must be at most 576h"],
    [
      "auth: {token: short}",
      "WARNING admin.auth.token: is shorter than 16 characters and can be guessed",
    ],
  ])("are judged: %s", (fields, expected) => {
    expect(problems(`admin: {${fields}}`)).toContainEqual(expect.stringContaining(expected));
  });

  it("refuse a certificate without a listener of its own", () => {
    expect(
      problems("admin: {tls: {cert_file: /c, key_file: /k}}").filter((each) =>
        each.includes("needs admin.listen"),
      ),
    ).toEqual([
      expect.stringContaining("ERROR admin.tls.cert_file: needs admin.listen"),
      expect.stringContaining("ERROR admin.tls.key_file: needs admin.listen"),
    ]);
  });

  it("find the pull listener on the same socket", () => {
    expect(problems("{admin: {listen: '127.0.0.1:2112'}, scrape: {enabled: true}}")).toContainEqual(
      expect.stringContaining("ERROR scrape.listen: :2112 is also the address of admin.listen"),
    );
  });

  it.each([
    `admin: {listen: ':9091', auth: {token: ${long}}}`,
    `{admin: {listen: ':9091'}, auth: {token: ${long}}}`,
    "admin: {listen: '127.0.0.1:9091'}",
    "admin: {listen: ':8400', enabled: false}",
    "admin: {status_refresh_interval: 0}",
  ])("take %s", (yaml) => {
    expect(problems(yaml)).toEqual([]);
  });
});
