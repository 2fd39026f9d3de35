import { rootCertificates } from "node:tls";
import { describe, expect, it } from "vitest";
import { adminKeys } from "../../../src/daemon/config/admin-keys.ts";
import { formatFinding } from "../../../src/kernel/config/findings.ts";
import { processKeys } from "../../../src/daemon/config/process-keys.ts";
import { defineSchema } from "../../../src/kernel/config/key.ts";
import { loadConfig, type LoadResult } from "../../../src/kernel/config/load.ts";
import { profilingKeys } from "../../../src/daemon/config/profiling-keys.ts";
import {
  checkProfileEndpoint,
  checkProfiler,
  profilesUsed,
  pushOptions,
} from "../../../src/daemon/config/profiling-options.ts";
import { tracingKeys } from "../../../src/kernel/telemetry/config/tracing-keys.ts";
import { updateKeys } from "../../../src/daemon/config/update-keys.ts";
import { gatewayKeys } from "../../../gateway/config.ts";
import { stateKeys } from "../../../src/kernel/state/backups/state-keys.ts";

const schema = defineSchema(
  gatewayKeys,
  stateKeys,
  processKeys,
  adminKeys,
  tracingKeys,
  profilingKeys,
  updateKeys,
);

function load(yaml: string, environment: Record<string, string> = {}): LoadResult {
  const files: Record<string, string> = {
    "f.yaml": yaml,
    "/ca": rootCertificates[0] ?? "",
    "/junk": "none",
    "/secret": "canary-file\n",
  };
  return loadConfig({
    file: "f.yaml",
    environment: { HOME: "/", ...environment },
    schema,
    checks: [checkProfileEndpoint, checkProfiler, profilesUsed],
    readFile: (path) => {
      const text = files[path];
      if (text === undefined) throw new Error("ENOENT");
      return text;
    },
  });
}
const problems = (yaml: string): string[] => load(yaml).findings.map(formatFinding);
const on = "enabled: true, server_address: 'http://localhost:4040'";

describe("The keys of profiling", () => {
  it("are off unless asked for, and then nothing of them is judged but what does nothing", () => {
    const { config, findings } = load(
      "profiling: {profiler: {credential_reload: {enabled: true, interval: 1s}, basic_auth_user: u}}",
    );
    expect([findings, config && pushOptions(config)]).toEqual([[], undefined]);
  });

  it("are told settled: names of headers in lower case, the tenant among them, credentials whole", () => {
    const { config, findings } = load(
      `profiling: {profiler: {${on}, basic_auth_user: u, basic_auth_password: canary-1, tenant_id: t, upload_rate: 15s, headers: {X-Org: canary-2, x-file_file: /secret}, tags: {region: eu}, tls: {ca_file: /ca, insecure_skip_verify: true}, credential_reload: {enabled: true}}}`,
    );
    expect(findings).toEqual([]);
    const options = config && pushOptions(config);
    expect(options).toMatchObject({
      server: "http://localhost:4040",
      uploadRateMs: 15_000,
      basic: { user: "u" },
      reloadMs: 30_000,
      tls: { caFile: "/ca", certFile: "", keyFile: "", insecureSkipVerify: true },
    });
    expect([...(options?.headers.keys() ?? [])]).toEqual(["x-org", "x-file", "x-scope-orgid"]);
    expect([...(options?.tags ?? [])]).toEqual([["region", "eu"]]);
    expect(JSON.stringify(config?.effective({ provenance: true }))).not.toContain("canary");
  });

  it("may be variables", () => {
    const { config } = load("", {
      STEWARD_PROFILING__PROFILER__ENABLED: "true",
      STEWARD_PROFILING__PROFILER__SERVER_ADDRESS: "http://localhost:1",
      STEWARD_PROFILING__PROFILER__BASIC_AUTH_USER: "u",
      STEWARD_PROFILING__PROFILER__BASIC_AUTH_PASSWORD_FILE: "/secret",
      STEWARD_PROFILING__PROFILER__TAGS__ZONE: "a",
    });
    const options = config && pushOptions(config);
    expect([
      options?.server,
      options?.basic?.password.use((value) => value.trim()),
      options?.tags.get("zone"),
    ]).toEqual(["http://localhost:1", "canary-file", "a"]);
  });

  it.each([
    [
      "profile_endpoint: {enabled: true}",
      "ERROR profiling.profile_endpoint.enabled: needs a token",
    ],
    ["profiler: {enabled: true}", "ERROR profiling.profiler.server_address: is missing"],
    [
      "profiler: {enabled: true, server_address: 'ftp://x'}",
      "ERROR profiling.profiler.server_address: must be an http or https address",
    ],
    [
      "profiler: {enabled: true, server_address: 'http://u:canary@x'}",
      "ERROR profiling.profiler.server_address: must not contain credentials",
    ],
    [
      "profiler: {upload_rate: 10ms}",
      "ERROR profiling.profiler.upload_rate: must be from 1s to 10m",
    ],
    ["profiler: {upload_rate: 1h}", "ERROR profiling.profiler.upload_rate: must be from 1s to 10m"],
    [
      "profiler: {network_label: plain}",
      "ERROR profiling.profiler.network_label: must be one of off, hashed, name",
    ],
    [
      "profiler: {tags: {service_version: x}}",
      'ERROR profiling.profiler.tags: "service_version" is set by Steward',
    ],
    [
      "profiler: {tags: {service_instance_id: x}}",
      'ERROR profiling.profiler.tags: "service_instance_id" is set by Steward',
    ],
    ["profiler: {tags: {a-b: x}}", 'ERROR profiling.profiler.tags: "a-b" must be of letters'],
    ["profiler: {tags: {a: 'b,c=d'}}", 'ERROR profiling.profiler.tags: the value of "a" must be'],
    [
      "profiler: {headers: {content-type: x}}",
      "ERROR profiling.profiler.headers: must not have content-type",
    ],
    [
      "profiler: {headers: {'a b': x}}",
      'ERROR profiling.profiler.headers: "a b" is no name of a header',
    ],
    [
      `profiler: {headers: {x-a: "canary\\nb"}}`,
      'ERROR profiling.profiler.headers: the value of "x-a" holds characters',
    ],
    [
      `profiler: {${on}, basic_auth_user: u, basic_auth_password: p, headers: {Authorization: x}}`,
      "ERROR profiling.profiler.headers.Authorization: repeats profiling.profiler.basic_auth_user",
    ],
    [
      `profiler: {${on}, tenant_id: t, headers: {X-Scope-OrgID: x}}`,
      "ERROR profiling.profiler.headers.X-Scope-OrgID: repeats profiling.profiler.tenant_id",
    ],
    [
      `profiler: {${on}, tenant_id: "a\\nb"}`,
      "ERROR profiling.profiler.tenant_id: must be plain ASCII",
    ],
    [
      `profiler: {${on}, credential_reload: {enabled: true, interval: 1s}}`,
      "ERROR profiling.profiler.credential_reload.interval: must be at least 5s",
    ],
    [
      `profiler: {${on}, tls: {ca_file: /gone}}`,
      "ERROR profiling.profiler.tls.ca_file: /gone cannot be read",
    ],
    [
      `profiler: {${on}, tls: {ca_file: /junk}}`,
      "ERROR profiling.profiler.tls.ca_file: /junk holds no certificate",
    ],
    [
      `profiler: {${on}, tls: {cert_file: /ca}}`,
      "ERROR profiling.profiler.tls.key_file: is missing",
    ],
    [
      `profiler: {${on}, span_profiles: {enabled: true}}`,
      "ERROR profiling.profiler.span_profiles.enabled: needs tracing.enabled and profiling.profiler.enabled",
    ],
    [
      `profiler: {${on}, basic_auth_user: u}`,
      "WARNING profiling.profiler.basic_auth_user: is ignored",
    ],
    [
      "profiler: {enabled: true, server_address: 'https://profiles-prod-001.grafana.net'}",
      "WARNING profiling.profiler.server_address: is a hosted server",
    ],
    [
      "profiler: {enabled: true, server_address: 'http://profiles.example.org:4040', basic_auth_user: u, basic_auth_password: p}",
      "WARNING profiling.profiler.server_address: is plain HTTP: others on the network can read the credentials",
    ],
    ["mutex_profile_fraction: 6", "WARNING profiling.mutex_profile_fraction: is ignored"],
    ["block_profile_rate: 7", "WARNING profiling.block_profile_rate: is ignored"],
  ])("are judged: %s", (yaml, expected) => {
    const found = problems(`profiling: {${yaml}}`);
    expect(found).toEqual([expect.stringContaining(expected)]);
    expect(found.join()).not.toContain("canary");
  });

  it("take a server in plain HTTP that is sent no secret", () => {
    expect(
      problems(
        "profiling: {profiler: {enabled: true, server_address: 'http://profiles.example.org:4040', tenant_id: t}}",
      ),
    ).toEqual([]);
  });

  it("let profiles be asked for with either token of an administrator, on the admin surface only", () => {
    for (const token of [
      "auth: {token: abcdefghijklmnopqrstuvwxyz}",
      "admin: {auth: {token: abcdefghijklmnopqrstuvwxyz}}",
    ])
      expect(problems(`${token}\nprofiling: {profile_endpoint: {enabled: true}}`)).toEqual([]);
    expect(
      problems(
        "auth: {token: abcdefghijklmnopqrstuvwxyz}\nadmin: {enabled: false}\nprofiling: {profile_endpoint: {enabled: true}}",
      ),
    ).toEqual([expect.stringContaining("needs admin.enabled")]);
  });

  it("say that profiles carry no spans where both are on", () => {
    expect(
      problems(
        `tracing: {enabled: true}\nprofiling: {profiler: {${on}, span_profiles: {enabled: true}}}`,
      ),
    ).toEqual([
      expect.stringContaining("WARNING profiling.profiler.span_profiles.enabled: is ignored"),
    ]);
  });
});

describe("The keys of the look for newer releases", () => {
  it("ask nobody by default, spelled out or not", () => {
    expect(problems("")).toEqual([]);
    expect(problems("version_checks: {self: {enabled: true}}")).toEqual([]);
    expect(
      problems(
        "version_checks: {self: {enabled: true, url: 'https://api.example.org/latest?x=1'}}",
      ),
    ).toEqual([]);
    expect(problems("version_checks: {self: {url: 'file:///x'}}")).toEqual([
      expect.stringContaining("ERROR version_checks.self.url: must be an http or https address"),
    ]);
  });
});
