/**
 * `npm run generate`: everything under `src/gen`, `test/gen`, `docs/api` and `docs/schemas` comes
 * from `proto/` and `test/proto/` through here, `workers/wasm/module.ts` from its sources, and the
 * reference pages, dashboards and the manual page from what they describe. `--baseline` also accepts the present API as the
 * one that later changes are compared with.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { gatherForeignProtos } from "./foreign-protos.ts";
import { BUF, installGenerators } from "./generators.ts";
import { compileWasm } from "./wasm.ts";

const root = join(import.meta.dirname, "..");

function buf(...args: string[]): void {
  const done = spawnSync(BUF, args, { cwd: root, stdio: "inherit" });
  if (done.status !== 0) process.exit(done.status ?? 1);
}

installGenerators();
compileWasm();
gatherForeignProtos();
buf("generate");
buf("generate", "--template", "test/buf.gen.yaml");
if (process.argv.includes("--baseline"))
  buf("build", "proto", "--exclude-source-info", "-o", "proto/baseline.binpb");

// Only now: it imports what has just been generated.
const { generateApiDocs } = await import("./api-docs.ts");
await generateApiDocs(process.argv.includes("--baseline"));

const { writeStatusTypes } = await import("./status-types.ts");
writeStatusTypes();

const { writeConfigDocs } = await import("./config-docs.ts");
writeConfigDocs();

const { writeMetricsDocs } = await import("./metrics-docs.ts");
writeMetricsDocs();

const { writeDashboards } = await import("./dashboards.ts");
writeDashboards();

const { writeManPage } = await import("./man-page.ts");
writeManPage();
