/**
 * Keeps what Steward runs without its types (src/kernel/source/stripping.ts): `npm run prepare`, after installing and after edits. With
 * `--if-missing`, as the launcher calls it, what somebody else kept meanwhile stays.
 */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { keepStripped, STRIPPED_FOLDER } from "../src/kernel/source/stripping.ts";

const root = join(import.meta.dirname, "..");
const files = globSync(["src/**/*.ts", "workers/**/*.ts", "gateway/**/*.ts"], { cwd: root });
keepStripped(files.map((file) => readFileSync(join(root, file), "utf8")), STRIPPED_FOLDER, process.argv.includes("--if-missing") ? "if-missing" : "replace");
