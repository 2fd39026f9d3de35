/** The chart: its values against their schema everywhere, rendered where helm is. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import { afterAll, describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { removeTemporaryFolders, runSteward, temporaryFolder } from "../contract/daemon.ts";
import { MIN_STOP_SECONDS } from "./stop-time.ts";

const chart = join(import.meta.dirname, "../../deploy/helm");
const hasHelm = spawnSync("helm", ["version"]).status === 0;
if (!hasHelm)
  process.stderr.write("skipped: helm is not on this machine, so the chart was not rendered\n");

interface Properties {
  readonly properties?: Readonly<Record<string, Properties>>;
}

interface Manifest {
  readonly kind: string;
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: object;
}

function textOf(file: string): string {
  return readFileSync(join(chart, file), "utf8");
}

function helm(...args: readonly string[]): { status: number | null; stdout: string; all: string } {
  const { status, stdout, stderr } = spawnSync("helm", args, { encoding: "utf8" });
  return { status, stdout, all: stdout + stderr };
}

function render(...settings: readonly string[]): readonly Manifest[] {
  const { status, stdout, all } = helm("template", "home", chart, ...settings);
  expect({ status, all }).toMatchObject({ status: 0 });
  return parseAllDocuments(stdout).map((one) => one.toJS() as Manifest);
}

afterAll(removeTemporaryFolders);

const schema = JSON.parse(textOf("values.schema.json")) as Properties;

describe("deploy/helm", () => {
  it("has values that their schema accepts, and refuses unknown ones", () => {
    const valid = new Ajv({ strict: false }).compile(schema);
    const values = parse(textOf("values.yaml")) as object;
    expect(valid(values), JSON.stringify(valid.errors)).toBe(true);
    expect(valid({ ...values, imagee: {} })).toBe(false);
    expect(valid({ ...values, ports: { metrics: 80 } })).toBe(false);
  });

  it("uses no value that the schema does not have", () => {
    for (const file of readdirSync(join(chart, "templates"))) {
      const used = [...textOf(`templates/${file}`).matchAll(/\.Values\.([\w.]+)/g)];
      expect(used, file).not.toEqual([]);
      for (const [, path = ""] of used) {
        let known: Properties | undefined = schema;
        for (const step of path.split(".")) known = known?.properties?.[step];
        expect(known, path).toBeDefined();
      }
    }
  });

  it("lets Steward stop by itself before it is killed", () => {
    const [, seconds] =
      /^ +terminationGracePeriodSeconds: (\d+)$/m.exec(textOf("templates/statefulset.yaml")) ?? [];
    expect(Number(seconds)).toBeGreaterThanOrEqual(MIN_STOP_SECONDS);
  });

  it("keeps the variables of services out: STEWARD_PORT of a service named steward is no key", () => {
    expect(textOf("templates/statefulset.yaml")).toMatch(/^ {6}enableServiceLinks: false$/m);
  });

  it("asks the process itself whether it is alive", () => {
    const [, probe] =
      /^ +livenessProbe:\n((?: {12,}.*\n)+)/m.exec(textOf("templates/statefulset.yaml")) ?? [];
    expect(probe).toMatch(/httpGet:[^]* path: \/healthz\n/);
  });

  it("has the version of Steward", () => {
    const { version } = JSON.parse(textOf("../../package.json")) as { version: string };
    expect(parse(textOf("Chart.yaml"))).toMatchObject({ version, appVersion: version });
  });
});

describe.skipIf(!hasHelm)("deploy/helm as helm renders it (skipped without helm)", () => {
  it("passes helm's own checks", () => {
    expect(helm("lint", "--strict", chart)).toMatchObject({ status: 0 });
  });

  it("gives one Steward without privileges a root that it cannot write", () => {
    const workload = render().find(({ kind }) => kind === "StatefulSet");
    expect(workload?.spec).toMatchObject({
      replicas: 1,
      template: {
        spec: {
          securityContext: { runAsNonRoot: true, runAsUser: 65532, runAsGroup: 0 },
          containers: [
            {
              image: "steward:0.1.0",
              securityContext: {
                allowPrivilegeEscalation: false,
                readOnlyRootFilesystem: true,
                capabilities: { drop: ["ALL"] },
              },
            },
          ],
        },
      },
    });
  });

  it("leaves the user to the cluster when told so, and opens further ports", () => {
    const manifests = render("--set", "runAsUser=null", "--set", "ports.metrics=2112");
    expect(JSON.stringify(manifests)).not.toMatch(/"runAsUser"|"fsGroup"/);
    expect(manifests.find(({ kind }) => kind === "Service")?.spec).toMatchObject({
      ports: [{ port: 8400 }, { name: "metrics", port: 2112, targetPort: "metrics" }],
    });
  });

  it.each([
    ["service.type=ClusterIP", "HTTP"],
    ["configuration.gateway=null", "HTTP"],
    ["configuration.gateway.tls=null", "HTTP"],
    ["configuration.gateway.tls.cert_file=x", "HTTPS"],
  ])("with %s asks over %s whether it is alive", (setting, scheme) => {
    const workload = render("--set", setting).find(({ kind }) => kind === "StatefulSet");
    expect(workload?.spec).toMatchObject({
      template: {
        spec: {
          containers: [{ livenessProbe: { httpGet: { path: "/healthz", port: "http", scheme } } }],
        },
      },
    });
  });

  it("refuses a value that the schema does not have", () => {
    expect(helm("template", "home", chart, "--set", "imagee=a").status).not.toBe(0);
  });

  it("gives Steward a valid configuration", async () => {
    const map = render().find(({ kind }) => kind === "ConfigMap");
    const secrets = join(temporaryFolder(), "secrets");
    mkdirSync(secrets);
    writeFileSync(join(secrets, "steward-token"), "0123456789abcdef0123456789abcdef\n", {
      mode: 0o600,
    });
    const file = join(secrets, "steward.yaml");
    const text = map?.data?.["steward.yaml"] ?? "";
    expect(text).toContain("/run/secrets/steward-token");
    writeFileSync(file, text.replaceAll("/run/secrets", secrets));
    const env = { STEWARD_GATEWAY__LISTEN: "0.0.0.0:8400" };
    expect(await runSteward(["-validate", "-config", file], { env })).toMatchObject({ code: 0 });
  });
});
