import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { formatAddress } from "../../src/kernel/config/values/address.ts";
import { scrapeEnabled, scrapeListen } from "../../src/kernel/telemetry/config/scrape-keys.ts";
import { configureDaemon, loadDaemonConfig } from "../../src/daemon/configuration.ts";
import { validate } from "../../src/commands/validate.ts";

const none = { config: undefined, demo: false };

describe("the daemon's configuration", () => {
  it("is the demo, in a folder of its own, when there is nothing", () => {
    expect(configureDaemon(none, { HOME: "/home/ada" })).toMatchObject({
      demo: { demo: true },
      stateRoot: "/home/ada/.local/state/steward",
      stateDirectory: "/home/ada/.local/state/steward/demo",
      warnings: [],
    });
  });

  it("is not the demo when something is set", () => {
    expect(
      configureDaemon(none, { HOME: "/home/ada", STEWARD_STATE__DIRECTORY: "/s" }),
    ).toMatchObject({ demo: { demo: false }, stateDirectory: "/s" });
  });

  it("refuses a demo that other machines could reach, token or not", () => {
    const environment = {
      HOME: "/home/ada",
      STEWARD_GATEWAY__LISTEN: "0.0.0.0:1",
      STEWARD_AUTH__TOKEN: "0123456789abcdef",
    };
    expect(() => configureDaemon({ config: undefined, demo: true }, environment)).toThrow(
      "the demo only listens on this machine",
    );
  });

  it("refuses a demo any of whose listeners other machines could reach", () => {
    const environment = { HOME: "/home/ada", STEWARD_AUTH__TOKEN: "0123456789abcdef" };
    for (const [variable, key] of [
      ["STEWARD_ADMIN__LISTEN", "admin.listen"],
      ["STEWARD_SCRAPE__LISTEN", "scrape.listen"],
    ] as const) {
      expect(() =>
        configureDaemon({ config: undefined, demo: true }, { ...environment, [variable]: ":9" }),
      ).toThrow(`the demo only listens on this machine, ${key} is :9`);
    }
    expect(() =>
      configureDaemon(
        { config: undefined, demo: true },
        { ...environment, STEWARD_SCRAPE__LISTEN: ":9", STEWARD_SCRAPE__ENABLED: "false" },
      ),
    ).not.toThrow();
  });

  it("opens the pull endpoint of a demo on a free port, unless something else is set", () => {
    const pull = (demo: boolean, environment: Record<string, string> = {}): unknown => {
      const { config } = configureDaemon(
        { config: undefined, demo },
        { HOME: "/home/ada", STEWARD_DEMO: String(demo), ...environment },
      );
      return [
        config.get(scrapeEnabled),
        formatAddress(config.get(scrapeListen)),
        config.source(scrapeListen).from,
      ];
    };
    expect(pull(true)).toEqual([true, "127.0.0.1:0", "demo"]);
    expect(pull(false)).toEqual([false, ":2112", "default"]);
    expect(pull(true, { STEWARD_SCRAPE__LISTEN: "127.0.0.1:9" })).toEqual([
      true,
      "127.0.0.1:9",
      "environment",
    ]);
    expect(pull(true, { STEWARD_SCRAPE__ENABLED: "false" })).toEqual([
      false,
      "127.0.0.1:0",
      "demo",
    ]);
  });

  it("warns of a variable of the demo where there is none, also by -validate", () => {
    const environment = { HOME: "/home/ada", STEWARD_DEMO: "false", STEWARD_DEMO_ROOT_TOKEN: "x" };
    const warning = {
      path: "STEWARD_DEMO_ROOT_TOKEN",
      severity: "warning",
      rule: "is ignored: this is no demo, because STEWARD_DEMO is false",
    };
    expect(configureDaemon(none, environment).warnings).toMatchObject([warning]);
    expect(loadDaemonConfig(undefined, environment).findings).toMatchObject([warning]);
    expect(configureDaemon({ config: undefined, demo: true }, environment).warnings).toEqual([]);
    expect(loadDaemonConfig(undefined, { HOME: "/home/ada", STEWARD_DEMO: "maybe" })).toEqual({
      findings: [expect.objectContaining({ path: "STEWARD_DEMO", severity: "error" })],
    });
  });

  it("warns of a gateway that other machines reach without TLS", () => {
    const warned = (more: Record<string, string>): readonly string[] =>
      configureDaemon(none, {
        HOME: "/home/ada",
        STEWARD_AUTH__TOKEN: "0123456789abcdef",
        ...more,
      }).warnings.map(({ path, rule }) => `${path} ${rule}`);
    for (const listen of [
      "0.0.0.0:8400",
      ":8400",
      "10.0.0.7:8400",
      "[2001:db8::1]:8400",
      "steward.lan:8400",
    ]) {
      expect(warned({ STEWARD_GATEWAY__LISTEN: listen })).toEqual([
        `gateway.listen ${listen} can be reached from other machines without TLS: credentials and minted tokens cross the network in clear`,
      ]);
      expect(
        warned({ STEWARD_GATEWAY__LISTEN: listen, STEWARD_GATEWAY__TRUSTED_PROXIES: "10.0.0.2" }),
      ).toEqual([]);
    }
    // Loopback, and addresses of the private network, which encrypts by itself.
    for (const listen of ["127.0.0.1:8400", "100.64.0.7:8400", "[fd7a:115c:a1e0::7]:8400"])
      expect(warned({ STEWARD_GATEWAY__LISTEN: listen })).toEqual([]);
  });

  it("warns of an admin listener and a pull listener that other machines reach without TLS", () => {
    const warned = (more: Record<string, string>): readonly string[] =>
      configureDaemon(none, { HOME: "/home/ada", ...more }).warnings.map(
        ({ path, rule }) => `${path} ${rule}`,
      );
    const admin = {
      STEWARD_ADMIN__LISTEN: "10.0.0.7:8401",
      STEWARD_ADMIN__AUTH__TOKEN: "0123456789abcdef",
    };
    const scrape = {
      STEWARD_SCRAPE__ENABLED: "true",
      STEWARD_SCRAPE__AUTH__TOKEN: "0123456789abcdef",
    };
    const clear = "can be reached from other machines without TLS:";
    expect(warned(admin)).toEqual([
      `admin.listen 10.0.0.7:8401 ${clear} the admin token crosses the network in clear`,
    ]);
    expect(warned(scrape)).toEqual([
      `scrape.listen :2112 ${clear} scrape.auth.token crosses the network in clear`,
    ]);
    expect(warned({ ...admin, STEWARD_GATEWAY__TRUSTED_PROXIES: "10.0.0.2" })).toEqual([]);
    expect(warned({ ...admin, STEWARD_ADMIN__ENABLED: "false" })).toEqual([]);
    for (const listen of ["127.0.0.1:9", "100.64.0.7:9"]) {
      expect(
        warned({
          ...admin,
          ...scrape,
          STEWARD_ADMIN__LISTEN: listen,
          STEWARD_SCRAPE__LISTEN: listen.replace(":9", ":10"),
        }),
      ).toEqual([]);
    }
    expect(warned({ ...scrape, STEWARD_SCRAPE__ENABLED: "false" })).toEqual([]);
  });

  it("names all problems, one a line", () => {
    expect(() =>
      configureDaemon(none, {
        HOME: "/",
        STEWARD_LOGGING__LEVEL: "loud",
        STEWARD_POOL__THREADS: "-1",
      }),
    ).toThrow(/not valid:\n {2}ERROR logging\.level: .*\n {2}ERROR pool\.threads: [^\n]*$/);
  });
});

describe("-validate", () => {
  function run(
    environment: Record<string, string>,
    options: { json: boolean; warningsAsErrors: boolean } = {
      json: false,
      warningsAsErrors: false,
    },
  ): { code: number; stdout: string; stderr: string } {
    const seen = { stdout: "", stderr: "" };
    const code = validate({ ...none, ...options }, environment, {
      stdout: (text) => void (seen.stdout += text),
      stderr: (text) => void (seen.stderr += text),
    });
    return { code, ...seen };
  }

  it("prints one JSON array with everything when asked", () => {
    const { code, stdout, stderr } = run(
      { HOME: "/", STEWARD_LOGGING__LEVEL: "loud", STEWARD_LOGING__LEVEL: "x" },
      { json: true, warningsAsErrors: false },
    );
    expect([code, stderr]).toEqual([1, ""]);
    expect(JSON.parse(stdout)).toEqual([
      expect.objectContaining({
        severity: "error",
        path: "logging.level",
        message: expect.stringContaining("must be one of") as string,
      }),
      expect.objectContaining({
        severity: "warning",
        path: "STEWARD_LOGING__LEVEL",
        remediation: expect.stringContaining("STEWARD_LOGGING__LEVEL") as string,
      }),
    ]);
    expect(JSON.parse(run({ HOME: "/" }, { json: true, warningsAsErrors: false }).stdout)).toEqual(
      [],
    );
  });

  it("ends 1 on a warning when warnings count as errors", () => {
    const warned = { HOME: "/", STEWARD_LOGING__LEVEL: "x" };
    expect(run(warned).code).toBe(0);
    expect(run(warned, { json: false, warningsAsErrors: true })).toMatchObject({
      code: 1,
      stderr: "a warning counts as an error\n",
    });
    expect(run({ HOME: "/" }, { json: false, warningsAsErrors: true }).code).toBe(0);
  });

  it("prints errors to standard error and ends 1", () => {
    expect(run({ HOME: "/", STEWARD_LOGGING__LEVEL: "loud", STEWARD_LOGING__LEVEL: "x" })).toEqual({
      code: 1,
      stderr:
        'ERROR logging.level: must be one of debug, info, warn, error, got "loud" (STEWARD_LOGGING__LEVEL)\n',
      stdout:
        "WARNING STEWARD_LOGING__LEVEL: is not a known variable and is ignored — did you mean STEWARD_LOGGING__LEVEL?\n",
    });
  });

  it("names a section that others call by another name", () => {
    const folder = mkdtempSync(join(tmpdir(), "former-"));
    const file = join(folder, "config.yaml");
    writeFileSync(
      file,
      "tailscale:\n  tailnet: example.org\nprometheus:\n  enabled: true\ntailnets: []\nvpn:\n  tailnet: x\notlp: {grafana_cloud: {token: x}}\n",
      { mode: 0o600 },
    );
    let stderr = "";
    const environment = {
      HOME: "/",
      STEWARD_TAILSCALE__TAILNET: "x",
      STEWARD_PROMETHEUS__LISTEN: "x",
      STEWARD_TAILSCALE__AUTH__OAUTH__CLIENT_SECRET_FILE: "x",
    };
    const findings: string[] = [];
    validate({ ...none, config: file, json: false, warningsAsErrors: false }, environment, {
      stdout: (text) => void findings.push(text.trim()),
      stderr: (text) => void (stderr += text),
    });
    rmSync(folder, { recursive: true });
    expect(stderr).toBe(
      [
        "ERROR tailscale: is called vpn here (line 1) — docs/configuration.md names its keys.",
        "ERROR prometheus: is called scrape here (line 3) — docs/configuration.md names its keys.",
        "ERROR tailnets: is called networks here (line 5) — docs/configuration.md names its keys.",
        "ERROR vpn.tailnet: is called vpn.network here (line 7) — docs/configuration.md names its keys.",
        "ERROR otlp.grafana_cloud: is called otlp.backend_cloud here (line 8) — docs/configuration.md names its keys.",
        "",
      ].join("\n"),
    );
    expect(findings).toEqual([
      "WARNING STEWARD_PROMETHEUS__LISTEN: is not a known variable and is ignored — did you mean STEWARD_SCRAPE__LISTEN?",
      "WARNING STEWARD_TAILSCALE__AUTH__OAUTH__CLIENT_SECRET_FILE: is not a known variable and is ignored — did you mean STEWARD_VPN__AUTH__OAUTH__CLIENT_SECRET_FILE?",
      "WARNING STEWARD_TAILSCALE__TAILNET: is not a known variable and is ignored — did you mean STEWARD_VPN__NETWORK?",
    ]);
  });

  it("prints config OK and ends 0", () => {
    expect(run({ HOME: "/" })).toMatchObject({ code: 0, stdout: "config OK\n" });
  });
});

describe("a token that no Bearer header can carry", () => {
  it.each([
    "correct horse battery staple",
    "two-lines-of-a-file\nof-a-token",
    "pässwörd-of-sixteen",
  ])("is warned of: %j", (token) => {
    const variables = [
      "AUTH__TOKEN",
      "ADMIN__AUTH__TOKEN",
      "SCRAPE__AUTH__TOKEN",
      "STREAMING__TOKEN",
    ];
    const { findings } = loadDaemonConfig(
      undefined,
      Object.fromEntries(variables.map((name) => [`STEWARD_${name}`, token])),
    );
    expect(
      findings
        .filter(({ rule }) => rule.includes("a Bearer header cannot carry"))
        .map(({ path }) => path)
        .toSorted(),
    ).toEqual(["admin.auth.token", "auth.token", "scrape.auth.token", "streaming.token"]);
  });
});
