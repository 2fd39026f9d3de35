/**
 * `npm run release`: makes `release/` from a clean clone of the current commit: for each
 * architecture an archive, a Debian package and the plugin of Vault and OpenBao, a software bill of
 * materials, and `SHA256SUMS`. The
 * same commit gives the same bytes wherever the same npm and dpkg-deb run. `-- --architecture x64`
 * makes one of them. Needs git, npm and GNU tar; without dpkg-deb there are no packages.
 */
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { packFolder } from "./build/archive.ts";
import { makePlugin } from "./build/plugin.ts";
import { billOfMaterials } from "./release/bill-of-materials.ts";
import { checksums } from "./release/checksums.ts";
import { canMakeDebianPackages, makeDebianPackage } from "./release/debian.ts";
import { ARCHITECTURES, buildInfoOf, makeTree } from "./release/tree.ts";
import { cloneCommit, readCommit } from "./release/source.ts";

const root = join(import.meta.dirname, "..");
const target = join(root, "release");
const { values: options } = parseArgs({ options: { architecture: { type: "string" } } });

try {
  await release();
} catch (error) {
  process.stderr.write(`release: ${(error as Error).message}\n`);
  process.exitCode = 1;
}

async function release(): Promise<void> {
  const architectures = ARCHITECTURES.filter(
    (name) => options.architecture === undefined || name === options.architecture,
  );
  if (architectures.length === 0)
    throw new Error(`--architecture: must be one of ${ARCHITECTURES.join(", ")}`);
  const commit = readCommit(root);
  // Beside the result, so that this is renamed whole.
  const staging = mkdtempSync(join(root, "dist."));
  try {
    const source = cloneCommit(root, join(staging, "steward"), commit);
    const made = join(staging, "release");
    mkdirSync(made);
    writeFileSync(
      join(made, `steward-${source.version}.cdx.json`),
      billOfMaterials(source.folder, commit),
    );
    for (const architecture of architectures) {
      const tree = await makeTree(source, architecture, staging, commit);
      packFolder(tree, made, `linux-${architecture}`, { time: commit.time });
      await makePlugin({
        root: source.folder,
        node: join(tree, `node_modules/node-linux-${architecture}/bin/node`),
        manifest: { version: source.version, release: buildInfoOf(source, commit) },
        target: join(made, `steward-plugin-${source.version}-linux-${architecture}`),
      });
      if (canMakeDebianPackages()) makeDebianPackage({ tree, architecture, commit, target: made });
      else process.stderr.write("release: no Debian package: dpkg-deb is not installed\n");
    }
    writeFileSync(join(made, "SHA256SUMS"), checksums(made));
    rmSync(target, { recursive: true, force: true });
    renameSync(made, target);
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
  for (const name of readdirSync(target).sort()) process.stdout.write(`${join(target, name)}\n`);
}
