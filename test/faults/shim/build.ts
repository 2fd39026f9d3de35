/** Builds a library for LD_PRELOAD from its source beside this file. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { temporaryFolder } from "../../contract/daemon.ts";

/**
 * Path of the library; undefined, and the reason on standard output, where there is no compiler or
 * no Linux with glibc.
 */
export function buildShim(name: string): string | undefined {
  const library = join(temporaryFolder(), `${name}.so`);
  const made = spawnSync(
    "cc",
    [
      "-shared",
      "-fPIC",
      "-O1",
      "-Wall",
      "-Werror",
      "-o",
      library,
      join(import.meta.dirname, `${name}.c`),
      "-ldl",
    ],
    { encoding: "utf8" },
  );
  const reason =
    process.platform !== "linux"
      ? "LD_PRELOAD needs Linux"
      : made.error === undefined
        ? made.stderr
        : `no C compiler (${made.error.message})`;
  if (process.platform === "linux" && made.status === 0) return library;
  if (made.error === undefined && process.platform === "linux")
    throw new Error(`${name}.c cannot be built:\n${reason}`);
  process.stdout.write(`skipped: ${name}.c was not built: ${reason}\n`);
  return undefined;
}
