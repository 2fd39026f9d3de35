import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { afterAll, describe, expect, it } from "vitest";
import { daemonSchema } from "../../../src/daemon/configuration.ts";
import { configSummary } from "../../../src/daemon/status/config-summary.ts";
import { ConfigSummarySchema } from "../../../src/gen/steward/monitor/v1/config_summary_pb.ts";
import { StatusService } from "../../../src/gen/steward/monitor/v1/status_service_pb.ts";
import { writeRestJson } from "../../../src/kernel/wire/rest-json.ts";
import { removeTemporaryFolders, temporaryFolder } from "../../contract/daemon.ts";
import { configOf } from "./config-of.ts";

afterAll(removeTemporaryFolders);

/** As REST writes it. */
function shown(environment: Readonly<Record<string, string>>, yaml?: string): any {
  let file: string | undefined;
  if (yaml !== undefined) {
    file = join(temporaryFolder(), "steward.yaml");
    writeFileSync(file, yaml, { mode: 0o600 });
  }
  const config = create(ConfigSummarySchema, configSummary(configOf(environment, file)));
  const method = StatusService.method.getConfigSummary;
  return JSON.parse(writeRestJson(method, create(method.output, { config })));
}

describe("the summary of the configuration", () => {
  it("has every key that is configured once, sorted", () => {
    const { full } = shown({});
    const names = Object.keys(full);
    expect(names).toEqual(names.toSorted());
    const inner = daemonSchema
      .filter(
        (key) =>
          Array.isArray(key.default) && key.default.length > 0 && key.type.fields !== undefined,
      )
      .map(({ path }) => path);
    for (const { path } of daemonSchema) if (!inner.includes(path)) expect(names).toContain(path);
  });

  it("shows a value as text, boolean, number or list of texts; nothing where nothing is set", () => {
    const { full } = shown({
      STEWARD_GATEWAY__CORS__ALLOWED_ORIGINS: "https://a.example,https://b.example",
    });
    expect(full["logging.level"]).toEqual({ value: "info" });
    expect(full["services.monitor"]).toEqual({ value: true });
    expect(full["pool.threads"]).toEqual({ value: 0 });
    expect(full["otlp.metric_interval"]).toEqual({ value: "1m0s" });
    expect(full["otlp.endpoint"]).toEqual({ value: "" });
    expect(full["gateway.cors.allowed_origins"]).toEqual({
      value: ["https://a.example", "https://b.example"],
    });
    expect(full["networks"]).toEqual({ value: [] });
    expect(full["otlp.headers"]).toEqual({});
    expect(full["admin.listen"]).toEqual({});
  });

  it("shows of a secret whether it is set and where, also in maps and lists, and nothing of any address that may be secret", () => {
    const file = join(temporaryFolder(), "token");
    writeFileSync(file, "kanarienvogel-aus-der-datei", { mode: 0o600 });
    const yaml = [
      "otlp: {endpoint: 'http://localhost:4318/x?token=kanarienvogel#kanarienvogel', headers: {X-Org: kanarienvogel, A-Key: kanarienvogel}}",
      `auth: {token_file: '${file}'}`,
      "admin: {auth: {token: kanarienvogel-kanarienvogel}}",
      "networks: [{name: one, provider: headscale, url: 'https://h.example', api_key: kanarienvogel}, {name: two, auth: {oauth: {client_id: c, client_secret: kanarienvogel}}}]",
    ].join("\n");
    const summary = shown({}, yaml);
    expect(JSON.stringify(summary)).not.toContain("kanarienvogel");
    const { full } = summary;
    expect(full["auth.token"]).toEqual({ secret: true, set: true, source: "file" });
    expect(full["admin.auth.token"]).toEqual({ secret: true, set: true, source: "value" });
    expect(full["scrape.auth.token"]).toEqual({ secret: true, set: false, source: "unset" });
    expect(full["networks.0.api_key"]).toEqual({ secret: true, set: true, source: "value" });
    expect(full["networks.1.auth.oauth.client_secret"]).toEqual({
      secret: true,
      set: true,
      source: "value",
    });
    expect(summary.otlp_header_keys.map((name: string) => name.toLowerCase())).toEqual([
      "a-key",
      "x-org",
    ]);
    expect([summary.api_key_set, summary.oauth_secret_set, summary.auth_method]).toEqual([
      true,
      false,
      "apikey",
    ]);
  });

  it("says which credentials there are", () => {
    const environment = {
      STEWARD_VPN__AUTH__OAUTH__CLIENT_ID: "c",
      STEWARD_VPN__AUTH__OAUTH__CLIENT_SECRET: "s",
      STEWARD_OTLP__BACKEND_CLOUD__INSTANCE_ID: "1",
      STEWARD_OTLP__BACKEND_CLOUD__TOKEN: "t",
      STEWARD_PROFILING__PROFILER__BASIC_AUTH_PASSWORD: "p",
      STEWARD_LOGGING__LEVEL: "warn",
    };
    expect(shown(environment)).toMatchObject({
      schema_version: 1,
      api_key_set: false,
      oauth_secret_set: true,
      backend_cloud_token_set: true,
      profiler_auth_set: true,
      stream_token_set: false,
      webhook_secret_set: false,
      auth_method: "oauth",
      log_level: "warn",
    });
    expect(
      shown({ STEWARD_VPN__AUTH__METHOD: "apikey", STEWARD_VPN__AUTH__APIKEY: "k" }),
    ).toMatchObject({ api_key_set: true, oauth_secret_set: false, auth_method: "apikey" });
  });
});
