import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { migrateConfig } from "../../src/commands/migrate-config.ts";
import { loadDaemonConfig } from "../../src/daemon/configuration.ts";
import { LAUNCHER } from "../support/launcher.ts";

const folder = mkdtempSync(join(tmpdir(), "migrate-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

function write(text: string): string {
  files += 1;
  const path = join(folder, `old-${files}.yaml`);
  writeFileSync(path, text);
  return path;
}

function migrate(text: string, to?: string): { stdout: string; stderr: string } {
  const printed = { stdout: "", stderr: "" };
  migrateConfig(
    { from: write(text), to },
    {
      stdout: (part) => void (printed.stdout += part),
      stderr: (part) => void (printed.stderr += part),
    },
  );
  return printed;
}

const OLD = `# Our exporter.
tailscale:
  tailnet: corp.test # ours
  auth:
    oauth:
      client_id: k123
      client_secret: swordfish

# Pulled by the server in the cellar.
prometheus:
  enabled: true
  listen: 127.0.0.1:2112
tracing_backend: jaeger
otlp:
  grafana_cloud:
    instance_id: "42"
  endpont: http://collector:4318
collectors:
  users: { interval: 10m }
`;

describe("the translation of another exporter's configuration", () => {
  it("leaves no part of a file on a full disk, which would stand in the way of the next try", () => {
    const path = join(folder, "full.yaml");
    // Files may have no blocks at all.
    const full = `trap '' XFSZ; ulimit -f 0; exec "$0" migrate-config "$@"`;
    const { status, stderr } = spawnSync("sh", ["-c", full, LAUNCHER, write(OLD), path], {
      encoding: "utf8",
    });
    expect([status, stderr, existsSync(path)]).toEqual([
      1,
      expect.stringContaining(`${path} cannot be written`),
      false,
    ]);
  });

  it("renames what has another name here, keeps comments, and says what it left out", () => {
    const { stdout, stderr } = migrate(OLD);
    expect(stdout).toBe(`# Our exporter.
vpn:
  network: corp.test # ours
  auth:
    oauth:
      client_id: k123
      client_secret: swordfish

# Pulled by the server in the cellar.
scrape:
  enabled: true
  listen: 127.0.0.1:2112
otlp:
  backend_cloud:
    instance_id: "42"
collectors:
  users: { interval: 10m }
`);
    expect(stderr).toBe(`renamed: tailscale to vpn
renamed: vpn.tailnet to vpn.network
renamed: prometheus to scrape
renamed: otlp.grafana_cloud to otlp.backend_cloud
left out: tracing_backend (line 13): Steward has no such key
left out: otlp.endpont (line 17): Steward has no such key; otlp.endpoint is similar
check it: steward -validate -config FILE
`);
  });

  it("writes a new file that only its owner reads, and that loads", () => {
    const to = join(folder, "steward.yaml");
    const { stdout, stderr } = migrate(OLD.replace(/^ {2}grafana_cloud:\n.*\n/m, ""), to);
    expect(stdout).toBe("");
    expect(stderr).toContain(`wrote ${to}; check it: steward -validate -config ${to}\n`);
    expect(statSync(to).mode & 0o777).toBe(0o600);
    const errors = loadDaemonConfig(to, { HOME: folder }).findings.filter(
      ({ severity }) => severity === "error",
    );
    expect(errors).toEqual([]);
    expect(() => migrate(OLD, to)).toThrow(`${to} exists already`);
    expect(readFileSync(to, "utf8")).toContain("network: corp.test");
  });

  it("takes unknown keys out of lists, and names what has to be mended by hand", () => {
    const { stdout, stderr } = migrate(
      "tailnets:\n  - name: a\n    colour: red\n  - name: b\nlogging: {level: loud}\n",
    );
    expect(stdout).toBe("networks:\n  - name: a\n  - name: b\nlogging: { level: loud }\n");
    expect(stderr).toContain("left out: networks[0].colour (line 3): Steward has no such key\n");
    expect(stderr).toContain("ERROR logging.level: must be one of");
  });

  it("keeps the name of here where the file has both", () => {
    const { stdout, stderr } = migrate("prometheus: {enabled: false}\nscrape: {enabled: true}\n");
    expect(stdout).toBe("scrape: { enabled: true }\n");
    expect(stderr).toContain(
      "left out: prometheus is called scrape here, which the file has as well\n",
    );
  });

  it.each([
    ["no YAML", "a: [", "is not valid YAML"],
    ["no keys", "- 1\n", "must hold keys such as"],
  ])("refuses a file with %s, and shows nothing of it", (_name, text, problem) => {
    expect(() => migrate(text)).toThrow(problem);
  });

  it("says why a file cannot be read", () => {
    const output = { stdout: () => undefined, stderr: () => undefined };
    expect(() => migrateConfig({ from: join(folder, "none"), to: undefined }, output)).toThrow(
      /none cannot be read: /,
    );
  });

  it("refuses a file that is not UTF-8, whose text it would alter", () => {
    const from = join(folder, "latin1");
    writeFileSync(from, Buffer.from("a: 1\nb: \u00f6\n", "latin1"));
    const output = { stdout: () => undefined, stderr: () => undefined };
    expect(() => migrateConfig({ from, to: undefined }, output)).toThrow(
      /latin1 is not UTF-8 \(line 2\)$/,
    );
  });

  it("takes an empty file", () => {
    expect(migrate("").stderr).toBe("check it: steward -validate -config FILE\n");
  });
});
