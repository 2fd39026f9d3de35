import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type MadePlugin, makePlugin } from "../../tools/build/plugin.ts";
import { withoutPluginHost } from "../support/plugin-host.ts";
import { MOUNT, startPluginEstate } from "../tokens/plugin/estate.ts";

const root = join(import.meta.dirname, "../..");
const release = {
  projectName: "steward",
  projectDocs: "docs/README.md",
  version: "1.2.3",
  revision: "a".repeat(40),
  branch: "HEAD",
  date: "2026-01-02T03:04:05.000Z",
  user: "release@steward",
};

describe("the plugin's single executable", () => {
  const folder = mkdtempSync("/tmp/steward-plugin-");
  const target = join(folder, "steward-plugin");
  let made: MadePlugin;
  beforeAll(async () => {
    const manifest = { version: "1.2.3", release };
    made = await makePlugin({ root, node: process.execPath, manifest, target });
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const run = (...args: readonly string[]): string =>
    execFileSync(target, args, { encoding: "utf8", maxBuffer: 2 ** 24, env: {} });

  it("holds the engine and its protocol, and neither a database nor the rest of Steward", () => {
    const modules = [...made.modules].map((path) => path.replace(`${root}/`, ""));
    const holds = (part: string): boolean => modules.some((path) => path.includes(part));
    for (const part of ["src/tokens/engine", "@grpc/grpc-js", "@peculiar/asn1-x509", "undici"])
      expect([part, holds(part)]).toEqual([part, true]);
    for (const part of [
      "lmdb",
      "piscina",
      "gateway/",
      "src/kernel/state",
      "src/daemon",
      "src/tokens/vault",
      "src/monitor",
      "src/dedup",
      "@opentelemetry",
    ])
      expect([part, holds(part)]).toEqual([part, false]);
  });

  it("says its version and the licences of all that is in it", () => {
    expect(run("--version")).toBe("1.2.3\n");
    const licences = run("--licences");
    for (const name of ["Apache License", "@grpc/grpc-js", "asn1js", "Node.js is licensed"])
      expect(licences).toContain(name);
  });

  it("is the same in every byte when it is made again, from any folder", () => {
    const spec = {
      root,
      node: process.execPath,
      manifest: { version: "1.2.3", release },
      target: join(folder, "again"),
    };
    const script = `import { makePlugin } from ${JSON.stringify(join(root, "tools/build/plugin.ts"))};
      console.log((await makePlugin(${JSON.stringify(spec)})).sha256);`;
    const options = ["--disable-warning=ExperimentalWarning", "--input-type=module", "-e", script];
    expect(execFileSync(process.execPath, options, { cwd: folder, encoding: "utf8" }).trim()).toBe(
      made.sha256,
    );
  });

  it.skipIf(withoutPluginHost !== undefined)(
    "runs in a host that checks its hash, with the build information of its release and a small heap",
    async () => {
      await using estate = await startPluginEstate({
        command: target,
        args: [],
        sha256: made.sha256,
      });
      expect(estate.mounted.version).toBe("v1.2.3");
      await estate.mint();
      const { response } = await estate.host.request(MOUNT, "read", "info");
      expect(response?.data).toMatchObject({
        build_version: "1.2.3",
        build_revision: "a".repeat(40),
        project_docs: "docs/README.md",
      });
    },
  );
});
