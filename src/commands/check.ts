/**
 * `steward check [DIR]`: walks every store of the state folder, or of a backup, without changing
 * it. The daemon must not run on the folder, since what it writes would look like damage.
 */
import { resolve } from "node:path";
import { StewardError } from "../kernel/base/errors.ts";
import type { Environment } from "../kernel/config/key.ts";
import { checkFolder } from "../kernel/state/backups/folder-check.ts";
import type { Severity, StoreCheck } from "../kernel/state/backups/folder-check.ts";
import { withFoundFile } from "./config-search.ts";
import { configureDaemon, type DaemonArguments } from "../daemon/configuration.ts";
import { mebibytes } from "./report/size.ts";
import { knownStores } from "../daemon/stores.ts";
import type { CommandOutput } from "./command.ts";

export interface CheckArguments extends DaemonArguments {
  /** A state folder or a backup; undefined is the state folder of the configuration. */
  readonly directory: string | undefined;
}

const INTERRUPTED = 130;
const EXIT_CODES: Readonly<Record<Severity, number>> = { sound: 0, damaged: 1, repairable: 3 };

/**
 * Runs the command; resolves with 0 when everything is sound, 1 when a store needs a backup or
 * another Steward, 3 when the next start puts right what is wrong, 130 after Ctrl-C. Throws what
 * kept it from looking.
 */
export async function check(
  options: CheckArguments,
  environment: Environment,
  output: CommandOutput,
): Promise<number> {
  const directory = resolve(
    options.directory ??
      configureDaemon(withFoundFile(options, environment), environment).stateDirectory,
  );
  const interrupt = new AbortController();
  const onSignal = (): void => interrupt.abort(new StewardError("cancelled", "interrupted"));
  process.once("SIGINT", onSignal).once("SIGTERM", onSignal);
  try {
    const checks = await checkFolder({
      directory,
      known: knownStores(directory),
      signal: interrupt.signal,
      checked: (one) => output.stdout(describe(one)),
    });
    const worst =
      (["damaged", "repairable", "sound"] as const).find((severity) =>
        checks.some((one) => one.severity === severity),
      ) ?? "sound";
    output.stdout(`${directory}: ${verdict(worst, checks)}\n`);
    return EXIT_CODES[worst];
  } catch (error) {
    if (!interrupt.signal.aborted) throw error;
    return INTERRUPTED;
  } finally {
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
  }
}

function describe({ name, severity, bytes, schema, rows, problems, notes }: StoreCheck): string {
  const counts = Object.entries(rows)
    .map(([table, count]) => `${table} ${count}`)
    .join(", ");
  const head = `${name}.mdb: ${severity.toUpperCase()}, ${mebibytes(bytes)}${schema === undefined ? "" : `, schema ${schema}`}${counts === "" ? "" : `, rows: ${counts}`}\n`;
  return (
    head +
    problems.map((problem) => `  problem: ${problem}\n`).join("") +
    notes.map((note) => `  note: ${note}\n`).join("")
  );
}

function verdict(worst: Severity, checks: readonly StoreCheck[]): string {
  const bad = checks
    .filter(({ severity }) => severity === worst)
    .map(({ name }) => name)
    .join(", ");
  switch (worst) {
    case "sound":
      return `all ${checks.length} stores are intact`;
    case "repairable":
      return `${bad}: the next start rebuilds it; no data is lost`;
    case "damaged":
      return `${bad}: restore a backup, or run the version named above; nothing was changed`;
  }
}
