/**
 * `npm run build:plugin`: makes `dist-plugin/steward-plugin-VERSION-linux-ARCHITECTURE` for this
 * machine and prints its SHA-256, as `bao plugin register` wants it.
 */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { makePlugin } from "./build/plugin.ts";

const root = join(import.meta.dirname, "..");
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly version: string;
};
const folder = join(root, "dist-plugin");
mkdirSync(folder, { recursive: true });
const target = join(folder, `steward-plugin-${version}-${process.platform}-${process.arch}`);
const { sha256 } = await makePlugin({
  root,
  node: process.execPath,
  manifest: { version },
  target,
});
process.stdout.write(`${sha256}  ${target}\n`);
