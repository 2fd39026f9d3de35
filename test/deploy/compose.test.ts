/** `compose-spec.json` is the schema of the Compose Specification; its licence is beside it. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Ajv2019 } from "ajv/dist/2019.js";
import { afterAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { removeTemporaryFolders, runSteward, temporaryFolder } from "../contract/daemon.ts";
import { MIN_STOP_SECONDS } from "./stop-time.ts";

const root = join(import.meta.dirname, "../..");
const folder = join(root, "deploy/compose");
const hasPromtool = spawnSync("promtool", ["--version"]).status === 0;

interface Service {
  readonly image: string;
  readonly secrets?: readonly string[];
  readonly volumes?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Seconds as `45s`; without it Docker kills after ten. */
  readonly stop_grace_period?: string;
}
interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
  readonly volumes: Readonly<Record<string, object>>;
}

afterAll(removeTemporaryFolders);

/** The configuration with the secrets in a folder of the test. */
async function validate(text: string): Promise<{ code: number | null; stderr: string }> {
  const secrets = join(temporaryFolder(), "secrets");
  mkdirSync(secrets);
  for (const [, name = ""] of text.matchAll(/\/run\/secrets\/([\w-]+)/g))
    writeFileSync(join(secrets, name), "tskey-0123456789abcdef0123456789abcdef\n", { mode: 0o600 });
  const file = join(secrets, "steward.yaml");
  writeFileSync(file, text.replaceAll("/run/secrets", secrets));
  const env = { STEWARD_GATEWAY__LISTEN: "0.0.0.0:8400" };
  const { code, stderr } = await runSteward(["-validate", "-config", file], { env });
  return { code, stderr };
}

describe.each(readdirSync(folder))("deploy/compose/%s", (name) => {
  const own = join(folder, name);
  const compose = parse(readFileSync(join(own, "compose.yaml"), "utf8")) as Compose;
  const steward = compose.services["steward"] as Service;

  it("is valid by the Compose Specification", () => {
    const schema = readFileSync(join(import.meta.dirname, "compose-spec.json"), "utf8");
    // It has the identifiers of an older draft, which refer to nothing.
    const rules = JSON.parse(schema, (key, value: unknown) =>
      (key === "id" && typeof value === "string") || key === "$schema" ? undefined : value,
    ) as Record<string, unknown>;
    const ajv = new Ajv2019({ strict: false, logger: false, validateFormats: false });
    const valid = ajv.compile(rules);
    expect(valid(compose), JSON.stringify(valid.errors)).toBe(true);
    expect(valid({ ...compose, services: { a: { imagee: "a" } } })).toBe(false);
  });

  it("pins its images, and names secrets, volumes and files that there are", () => {
    for (const { image, secrets = [], volumes = [] } of Object.values(compose.services)) {
      expect(image).toMatch(/:v?\d[\w.]*$/);
      for (const secret of secrets) expect(compose.secrets).toHaveProperty([secret]);
      for (const volume of volumes) {
        const [source = ""] = volume.split(":");
        if (!source.startsWith(".")) expect(compose.volumes).toHaveProperty([source]);
        // Headscale's configuration and the samples of Prometheus are the administrator's.
        else if (source !== "./headscale.yaml" && source !== "./samples")
          expect(existsSync(resolve(own, source)), source).toBe(true);
      }
    }
    for (const { file } of Object.values(compose.secrets)) expect(file).toMatch(/^\.\/secrets\//);
  });

  it("runs Steward without privileges, on a root that it cannot write", () => {
    expect(steward).toMatchObject({
      read_only: true,
      cap_drop: ["ALL"],
      security_opt: ["no-new-privileges:true"],
      user: "${STEWARD_UID:-1000}:0",
    });
  });

  it("lets Steward stop by itself before it is killed", () => {
    const [, seconds] = /^(\d+)s$/.exec(steward.stop_grace_period ?? "10s") ?? [];
    expect(Number(seconds)).toBeGreaterThanOrEqual(MIN_STOP_SECONDS);
  });

  it("gives Steward a valid configuration and exactly the secrets that it names", async () => {
    const text = readFileSync(join(own, "steward.yaml"), "utf8");
    const named = [...text.matchAll(/\/run\/secrets\/([\w-]+)/g)].map(([, secret = ""]) => secret);
    expect([...(steward.secrets ?? [])].sort()).toEqual(named.sort());
    expect(await validate(text)).toMatchObject({ code: 0 });
  });
});

it.skipIf(!hasPromtool)(
  "promtool accepts the configuration of Prometheus (skipped without it)",
  () => {
    const file = join(folder, "headscale/prometheus.yaml");
    const text = readFileSync(file, "utf8")
      .replace("/etc/prometheus/rules.yml", join(root, "deploy/prometheus/rules.yml"))
      .replace("/run/secrets/scrape-token", file);
    const copy = join(temporaryFolder(), "prometheus.yaml");
    writeFileSync(copy, text);
    const { status, stderr } = spawnSync("promtool", ["check", "config", copy], {
      encoding: "utf8",
    });
    expect({ status, stderr }).toMatchObject({ status: 0 });
  },
);
