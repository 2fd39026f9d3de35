/**
 * The single executable that Vault and OpenBao start: the plugin without the rest of Steward
 * (docs/plugin.md). Its version and build information are data in the executable.
 */
import { getAsset } from "node:sea";
import { toStewardError } from "./kernel/base/errors.ts";
import type { BuildInfo } from "./tokens/engine/types.ts";
import { runPlugin } from "./tokens/plugin/run.ts";

/** Version and build information; `tools/build/plugin.ts` stores them in the executable as JSON. */
export interface PluginManifest {
  readonly version: string;
  /** Of a release. */
  readonly release?: BuildInfo;
}

async function main(args: readonly string[]): Promise<number> {
  const { version, release } = JSON.parse(getAsset("manifest", "utf8")) as PluginManifest;
  if (args.includes("-version") || args.includes("--version")) {
    await print(`${version}\n`);
    return 0;
  }
  if (args.includes("-licences") || args.includes("--licences")) {
    await print(getAsset("licences", "utf8"));
    return 0;
  }
  return runPlugin({ version, build: release, environment: process.env });
}

/** Resolves when it is written: an exit right after would cut it. */
function print(text: string): Promise<void> {
  return new Promise((resolve) => process.stdout.write(text, () => resolve()));
}

// Timers and sockets of what did not stop must not keep the process alive.
main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (thrown: unknown) => {
    process.stderr.write(`steward plugin: ${toStewardError(thrown).message}\n`);
    process.exit(1);
  },
);
