/**
 * Compiles `workers/wasm/assembly` by AssemblyScript and writes the module into
 * `workers/wasm/module.ts`, so that it is bundled and loaded like any other source. Part of
 * `npm run generate`; the same sources give the same bytes.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ASC } from "./generators.ts";

const root = join(import.meta.dirname, "..");
/** 64 KiB each; what `workers/wasm/assembly/layout.ts` needs. */
const PAGES = 174;
const LINE = 92;

/** Writes `workers/wasm/module.ts`. Throws when the sources do not compile. */
export function compileWasm(): void {
  const folder = mkdtempSync(join(tmpdir(), "steward-wasm-"));
  try {
    const target = join(folder, "module.wasm");
    const done = spawnSync(
      process.execPath,
      [
        ASC,
        "workers/wasm/assembly/index.ts",
        "--outFile",
        target,
        "--optimizeLevel",
        "3",
        "--shrinkLevel",
        "0",
        "--runtime",
        "stub",
        "--noAssert",
        "--enable",
        "simd",
        "--enable",
        "bulk-memory",
        "--memoryBase",
        String(PAGES * 65_536 - 4_096),
        "--initialMemory",
        String(PAGES),
        "--maximumMemory",
        String(PAGES),
      ],
      { cwd: root, stdio: "inherit" },
    );
    if (done.status !== 0) throw new Error("workers/wasm/assembly does not compile");
    writeFileSync(join(root, "workers/wasm/module.ts"), sourceOf(readFileSync(target)));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function sourceOf(module: Uint8Array): string {
  const lines = Buffer.from(module)
    .toString("base64")
    .match(new RegExp(`.{1,${LINE}}`, "g"));
  return `/** Generated from workers/wasm/assembly by \`npm run generate\`; not edited by hand. */

/** The WebAssembly module, base64. */
export const WASM_MODULE: string = [
${(lines ?? []).map((line) => `  "${line}",`).join("\n")}
].join("");
`;
}

if (import.meta.main) compileWasm();
