/**
 * Errors that keep the demo from starting. The remedy repeats the demo's command line, since a
 * setting alone would start Steward without the demo.
 */
import { accessSync, constants, realpathSync } from "node:fs";
import { delimiter, dirname, join, relative } from "node:path";
import { StewardError, toStewardError } from "../../kernel/base/errors.ts";
import { shellWord } from "../../kernel/base/text/shell-word.ts";
import { formatAddress } from "../../kernel/config/values/address.ts";
import { gatewayListen } from "../../../gateway/config.ts";
import { stateFolder } from "../../kernel/state/backups/state-keys.ts";
import { variableOf, type Environment, type Key } from "../../kernel/config/key.ts";
import { SOLE_PROCESS } from "../../kernel/state/folder/directory-lock.ts";
import { daemonSchema, type DaemonConfiguration } from "../configuration.ts";

const LAST_PORT = 65_535;

/** The shell for which the remedy is written. */
export interface Shell {
  readonly environment: Environment;
  readonly directory: string;
  /** Path of the running program, `src/main.ts`. */
  readonly program: string;
}

/** Adds the remedy; returns the error unchanged when this is no demo or no setting would help. */
export function describeDemoStartError(
  thrown: unknown,
  configuration: DaemonConfiguration,
  shell: Shell,
): StewardError {
  const error = toStewardError(thrown);
  const remedy = configuration.demo.demo ? demoRemedy(error, configuration, shell) : undefined;
  if (remedy === undefined) return error;
  return new StewardError(error.code, error.message, {
    remedy,
    cause: error,
    ...(error.field === undefined ? {} : { field: error.field }),
    ...(error.rule === undefined ? {} : { rule: error.rule }),
  });
}

function demoRemedy(
  { code, field, rule, remedy = "" }: StewardError,
  { config, file, stateRoot }: DaemonConfiguration,
  shell: Shell,
): string | undefined {
  const listen = config.get(gatewayListen);
  const command = (changes: readonly (readonly [Key<unknown>, string])[]): string => {
    const kept = [stateFolder, gatewayListen].flatMap(
      (key): (readonly [Key<unknown>, string])[] => {
        const text = shell.environment[variableOf(key.path)];
        return text === undefined || text === "" || changes.some(([changed]) => changed === key)
          ? []
          : [[key, text]];
      },
    );
    const variables = [...kept, ...changes].map(
      ([key, text]) => `${variableOf(key.path)}=${shellWord(text)}`,
    );
    return [
      ...variables,
      shellWord(launcherOf(shell)),
      "-demo",
      ...(file === undefined ? [] : ["-config", shellWord(file)]),
    ].join(" ");
  };
  const otherPort: readonly [Key<unknown>, string] = [
    gatewayListen,
    formatAddress({ ...listen, port: listen.port < LAST_PORT ? listen.port + 1 : listen.port - 1 }),
  ];
  if (code === "conflict" && field === gatewayListen.path)
    return `stop that process, or start the demo on another port: ${command([otherPort])}`;
  if (rule === SOLE_PROCESS)
    return `stop that process, or start another demo beside it: ${command([[stateFolder, `${stateRoot}-2`], ...(listen.port === 0 ? [] : [otherPort])])}`;
  const isSetting = daemonSchema.some(({ path }) => path === field || remedy.includes(path));
  return isSetting
    ? `${remedy}; with settings the demo starts only with -demo: ${command([])}`
    : undefined;
}

/** How to call the launcher from this directory: by name if it is on PATH, else by path. */
function launcherOf({ environment, directory, program }: Shell): string {
  const launcher = join(dirname(program), "..", "bin", "steward");
  if (
    (environment["PATH"] ?? "")
      .split(delimiter)
      .some((folder) => folder !== "" && isSame(join(folder, "steward"), launcher))
  )
    return "steward";
  const path = relative(directory, launcher);
  if (path.startsWith("..")) return launcher;
  // Without a slash the shell would search PATH.
  return path.includes("/") ? path : `./${path}`;
}

function isSame(path: string, launcher: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return realpathSync(path) === realpathSync(launcher);
  } catch {
    return false;
  }
}
