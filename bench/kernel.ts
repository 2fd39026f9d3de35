/**
 * All benches of the kernel, one after the other, each in a process of its own so that none warms
 * or burdens another: `bin/node bench/kernel.ts`. Ends 1 when one of them fails, after the others
 * have run.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

/** Each takes its arguments' defaults; one that is not in this tree is left out. */
const BENCHES = ["kernel-state.ts", "kernel-gateway.ts", "telemetry.ts", "json.ts"];

async function run(file: string): Promise<number> {
  const child = spawn(process.execPath, [...process.execArgv, file], { stdio: "inherit" });
  return await new Promise((resolve, reject) =>
    child.once("error", reject).once("close", (code) => resolve(code ?? 1)),
  );
}

const failed: string[] = [];
for (const name of BENCHES) {
  const file = join(import.meta.dirname, name);
  if (!existsSync(file)) continue;
  process.stdout.write(`\n## ${name}\n\n`);
  if ((await run(file)) !== 0) failed.push(name);
}
if (failed.length > 0) process.stdout.write(`\nfailed: ${failed.join(", ")}\n`);
process.exitCode = failed.length > 0 ? 1 : 0;
