/**
 * Makes a copy of LMDB's prebuilt addon in which five texts are shorter, at
 * `node_modules/lmdb/build/Release`, where lmdb looks first: `npm run prepare`, after installing.
 * Without it Steward runs on the addon as it came (docs/decisions/lmdb-addon.md).
 *
 * lmdb 3.5.6 prints up to 109 bytes into 100 when the disk refuses a page, so a full or failing
 * disk could abort the process; and it writes to standard error past the log what its promises
 * reject with as well. Of the first the part beyond the size goes, the others become empty.
 *
 * `--if-missing` leaves an addon that is there. `--packages` and `--architecture` name another
 * `node_modules` and the machine it is for (glibc): a release is made for both architectures.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";

/** Each is a format of C that ends with a zero byte; what is behind `keep` is cut off. */
const TEXTS: readonly { readonly text: string; readonly keep: string }[] = [
  {
    text: "Attempting to write page at position %u, size %u, blocks %u, buffer sizes %i %i %i",
    keep: "Attempting to write page at position %u, size %u",
  },
  { text: "Write error: %s position %u, size %u", keep: "" },
  { text: "mdb_page_spill flushing error %i\n", keep: "" },
  { text: "mdb_page_spill error %i\n", keep: "" },
  { text: "do_write error %u %u\n", keep: "" },
];

const { values: options } = parseArgs({
  options: {
    "if-missing": { type: "boolean", default: false },
    packages: { type: "string", default: join(import.meta.dirname, "../node_modules") },
    architecture: { type: "string", default: process.arch },
  },
});
const folder = join(options.packages, "lmdb");
const target = join(folder, "build/Release/lmdb.node");
if (!options["if-missing"] || !existsSync(target)) {
  const addon = readFileSync(prebuiltAddon());
  for (const { text, keep } of TEXTS) cut(addon, text, keep);
  mkdirSync(dirname(target), { recursive: true });
  // Whole under its name at once: a daemon may load it meanwhile.
  writeFileSync(`${target}.${process.pid}`, addon);
  renameSync(`${target}.${process.pid}`, target);
}

/** The addon of the package for this platform, for any version of Node. */
function prebuiltAddon(): string {
  const libc =
    process.platform !== "linux"
      ? ""
      : (process.report.getReport() as { header: { glibcVersionRuntime?: string } }).header
            .glibcVersionRuntime === undefined
        ? ".musl"
        : ".glibc";
  const name = `@lmdb/lmdb-${process.platform}-${options.architecture}`;
  return join(
    dirname(createRequire(join(folder, "index.js")).resolve(`${name}/package.json`)),
    `node.napi${libc}.node`,
  );
}

function cut(addon: Buffer, text: string, keep: string): void {
  const bytes = Buffer.from(`${text}\0`);
  const at = addon.indexOf(bytes);
  if (at < 0 || addon.indexOf(bytes, at + 1) >= 0)
    throw new Error(
      `the addon of lmdb does not hold the text ${JSON.stringify(text)} once: see whether this version still needs tools/lmdb-addon.ts`,
    );
  addon.fill(0, at + keep.length, at + bytes.length);
}
