/** `steward init`: from questions to a configuration that the daemon starts with. */
import { basename, resolve } from "node:path";
import { orAborted } from "../../kernel/async/wait.ts";
import { errorWithRemedy, StewardError } from "../../kernel/base/errors.ts";
import { fileSchema } from "../../kernel/config/file-schema.ts";
import type { Environment } from "../../kernel/config/key.ts";
import { stateFolder } from "../../kernel/state/backups/state-keys.ts";
import { configureDaemon, daemonSchema } from "../../daemon/configuration.ts";
import { misuseOf, type CommandOutput } from "../command.ts";
import { newFileFor } from "../config-search.ts";
import { validate } from "../validate.ts";
import { until, type Answers } from "./answers.ts";
import { askArchive } from "./archive.ts";
import { configurationText, SCHEMA_FILE, type ConfigurationParts } from "./configuration-text.ts";
import { openFileAnswers } from "./file-answers.ts";
import { assertFree, existingFile, prepareFolder, writeFiles } from "./files.ts";
import { askNetwork } from "./network.ts";
import type { InitDeps } from "./part.ts";
import { hasTokens, storeApp } from "./store-app.ts";
import { openTerminalAnswers } from "./terminal-answers.ts";
import { askTokens, MOUNT, type TokensPart } from "./tokens.ts";
import { typedPath } from "./typed-path.ts";

export interface InitArguments {
  /** Undefined: the file that the daemon would find. */
  readonly file: string | undefined;
  /** A file of answers; undefined asks on the terminal. */
  readonly answers: string | undefined;
  readonly force: boolean;
}

interface Plan extends ConfigurationParts {
  readonly tokens: TokensPart | undefined;
}

const INTERRUPTED = 130;

/**
 * Runs the command; resolves with 0, 1 when the app could not be stored, 130 after Ctrl-C. Throws
 * what an answer lacks, `conflict` when a file exists already, and what the system says.
 */
export async function init(
  options: InitArguments,
  environment: Environment,
  output: CommandOutput,
): Promise<number> {
  const path = resolve(options.file ?? newFileFor(environment, isRoot()));
  prepareFolder(path);
  assertFree(path, [basename(path), SCHEMA_FILE], options.force);
  const interrupt = new AbortController();
  const onSignal = (): void => interrupt.abort(new StewardError("cancelled", "interrupted"));
  process.on("SIGINT", onSignal).on("SIGTERM", onSignal).on("SIGHUP", onSignal);
  const { signal } = interrupt;
  const say = (line: string): void => output.stderr(`${line}\n`);
  const answers = openAnswers(options, output, signal);
  const deps: InitDeps = {
    answers,
    say,
    environment: withoutSettings(environment),
    signal,
    taken: (name) => (options.force ? undefined : existingFile(path, name)),
  };
  try {
    const plan = await orAborted(askAll(deps), signal);
    writePlan(plan, { ...deps, path, force: options.force });
    // From here on there is something to keep: an interruption waits for its end.
    return await finish(plan, { ...deps, path, output });
  } catch (error) {
    if (!(error instanceof StewardError) || error.code !== "cancelled") throw error;
    say("\nInterrupted: nothing was written.");
    return INTERRUPTED;
  } finally {
    answers.close();
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal).off("SIGHUP", onSignal);
  }
}

function openAnswers(
  { answers }: InitArguments,
  { stderr }: CommandOutput,
  signal: AbortSignal,
): Answers {
  if (answers !== undefined) return openFileAnswers(answers);
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw misuseOf("init")("needs a terminal for its questions; without one give --answers FILE");
  return openTerminalAnswers(process.stdin, stderr, signal);
}

async function askAll(deps: InitDeps): Promise<Plan> {
  const network = await askNetwork(deps);
  const archive = await askArchive(deps);
  const tokens = await askTokens(deps);
  if (network === undefined && archive === undefined && tokens === undefined)
    throw new StewardError("invalid", "there is nothing to do: no network, archive or tokens", {
      remedy: "choose one of them; steward -demo shows all with simulated data",
    });
  const usual = isRoot() ? "/var/lib/steward" : stateFolder.defaultFrom?.(deps.environment);
  const question = {
    id: "state",
    text: "Folder for all data of Steward",
    ...(usual === undefined || usual === "" ? {} : { usual }),
  };
  const folder = await until(deps.answers, async () =>
    typedPath(await deps.answers.read(question), question.id, deps.environment),
  );
  deps.answers.finish();
  return { stateFolder: folder, network, archive, tokens };
}

interface Writing extends Pick<InitDeps, "environment" | "say"> {
  readonly path: string;
}

function writePlan(plan: Plan, { path, force, environment }: Writing & { force: boolean }): void {
  const schema = `${JSON.stringify(fileSchema(daemonSchema), undefined, 2)}\n`;
  const secrets = [plan.network, plan.archive, plan.tokens].flatMap((part) => part?.secrets ?? []);
  writeFiles({
    path,
    force,
    files: [
      ...secrets.map(({ name, secret }) => ({ name, content: secret })),
      { name: SCHEMA_FILE, content: schema },
      { name: basename(path), content: configurationText(plan) },
    ],
    validate: (draft) => void configureDaemon({ config: draft, demo: false }, environment),
  });
}

/** What follows once the files are there. */
async function finish(
  { tokens }: Plan,
  { path, environment, say, output }: Writing & { output: CommandOutput },
): Promise<number> {
  say(`Wrote ${path}.`);
  const shown = { stdout: output.stderr, stderr: output.stderr };
  validate({ config: path, demo: false, json: false, warningsAsErrors: false }, environment, shown);
  const code = tokens === undefined ? 0 : await keepApp(tokens, { path, environment, say, output });
  say(`Start the daemon: steward -config ${path}`);
  return code;
}

async function keepApp(
  { app }: TokensPart,
  { path, environment, say, output }: Writing & { output: CommandOutput },
): Promise<number> {
  const configuration = configureDaemon({ config: path, demo: false }, environment);
  const byHand = `bao write ${MOUNT}config app_id=${app.appId} base_url=${app.url} prv_key=@FILE`;
  if (hasTokens(configuration)) {
    say(
      `The state folder has a store of tokens, which was not changed. To store the app: ${byHand}`,
    );
    return 0;
  }
  const { signal } = new AbortController();
  const { root, failure } = await storeApp(app, configuration, { environment, output, signal });
  say("Root token of the Vault API, shown only once and not stored:");
  root.use((token) => output.stdout(`${token}\n`));
  if (failure === undefined) return 0;
  say(`The app was not stored: ${errorWithRemedy(failure)}. With the daemon running: ${byHand}`);
  return 1;
}

function isRoot(): boolean {
  return process.geteuid?.() === 0;
}

/** What is tried and written must not depend on settings of the shell. */
function withoutSettings(environment: Environment): Environment {
  return Object.fromEntries(
    Object.entries(environment).filter(([name]) => !/^(?:STEWARD|PAPERLESS|OTEL)_/.test(name)),
  );
}
