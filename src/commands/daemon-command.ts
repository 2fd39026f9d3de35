/** The daemon's options: it starts without a command, or does one thing in a one-shot mode. */
import type { DaemonArguments } from "../daemon/configuration.ts";
import {
  stateArguments,
  stateOptions,
  type Command,
  type CommandContext,
  type Invocation,
  type Misuse,
} from "./command.ts";
import type { AdoptFlowsArguments } from "./adopt-flows.ts";
import { cycleModes, type CycleArguments } from "./cycle/arguments.ts";
import type { EffectiveConfigArguments } from "./effective-config.ts";
import type { HealthcheckArguments } from "./healthcheck.ts";
import type { OptionTable, ParsedOptions } from "./options.ts";
import type { ValidateArguments } from "./validate.ts";

const HEALTHCHECK_MS = 5000;
const CYCLE_MS = 60_000;
/** A little less than a terminal's width. */
const LINE_LENGTH = 75;
/** Where the summaries of the commands begin. */
const SUMMARY_COLUMN = 30;

export const daemonOptions: OptionTable = {
  ...stateOptions,
  validate: {},
  json: { goesWith: ["validate", ...cycleModes] },
  "warnings-as-errors": { goesWith: "validate" },
  "print-effective-config": {},
  "print-effective-config-yaml": {},
  "print-effective-config-format": { value: ["json", "yaml"], goesWith: "print-effective-config" },
  "print-effective-config-provenance": { goesWith: "print-effective-config" },
  healthcheck: {},
  "healthcheck-timeout": { value: "duration", goesWith: "healthcheck" },
  preflight: {},
  "preflight-export": { goesWith: "preflight" },
  "preflight-timeout": { value: "duration", goesWith: cycleModes },
  once: {},
  "exposition-check": {},
  "adopt-flow-db": { value: "text" },
  version: {},
  help: { short: "h" },
};

/** A one-shot mode. Of several the first in the table counts. */
interface Mode {
  readonly command: string;
  /** The switches, or options with a value, that choose it. */
  readonly switches: readonly string[];
  parse(parsed: ParsedOptions): Invocation;
}

function defineMode<O>(
  command: string,
  switches: readonly string[],
  {
    parse,
    run,
  }: {
    readonly parse: (parsed: ParsedOptions) => O;
    readonly run: (options: O, context: CommandContext) => Promise<number>;
  },
): Mode {
  return {
    command,
    switches,
    parse(parsed) {
      const options = parse(parsed);
      return { command, options, run: (context) => run(options, context) };
    },
  };
}

const modes: readonly Mode[] = [
  defineMode("version", ["version"], {
    parse: () => undefined,
    async run(_, { output }) {
      const { stewardVersion } = await import("../daemon/version.ts");
      output.stdout(`${stewardVersion()}\n`);
      return 0;
    },
  }),
  defineMode("healthcheck", ["healthcheck"], {
    parse: (parsed): HealthcheckArguments => ({
      ...stateArguments(parsed),
      timeoutMs: parsed.numbers.get("healthcheck-timeout") ?? HEALTHCHECK_MS,
    }),
    async run(options, { environment, output }) {
      const { healthcheck } = await import("./healthcheck.ts");
      return healthcheck(options, environment, output);
    },
  }),
  defineMode("validate", ["validate"], {
    parse: (parsed): ValidateArguments => ({
      ...stateArguments(parsed),
      json: parsed.switches.has("json"),
      warningsAsErrors: parsed.switches.has("warnings-as-errors"),
    }),
    async run(options, { environment, output }) {
      const { validate } = await import("./validate.ts");
      return validate(options, environment, output);
    },
  }),
  defineMode("print-effective-config", ["print-effective-config"], {
    parse: (parsed): EffectiveConfigArguments => ({
      ...stateArguments(parsed),
      format: parsed.texts.get("print-effective-config-format") === "yaml" ? "yaml" : "json",
      provenance: parsed.switches.has("print-effective-config-provenance"),
    }),
    async run(options, { environment, output }) {
      const { printEffectiveConfig } = await import("./effective-config.ts");
      return printEffectiveConfig(options, environment, output);
    },
  }),
  defineMode("print-config-file", ["print-effective-config-yaml"], {
    parse: stateArguments,
    async run(options, { environment, output }) {
      const { printConfigFile } = await import("./effective-config.ts");
      return printConfigFile(options, environment, output);
    },
  }),
  defineMode("cycle", cycleModes, {
    parse: (parsed): CycleArguments => ({
      ...stateArguments(parsed),
      mode: cycleModes.find((mode) => parsed.switches.has(mode)) ?? "preflight",
      json: parsed.switches.has("json"),
      timeoutMs: parsed.numbers.get("preflight-timeout") ?? CYCLE_MS,
      exports: parsed.switches.has("preflight-export"),
    }),
    async run(options, { environment, output }) {
      const { cycle } = await import("./cycle.ts");
      return cycle(options, environment, output);
    },
  }),
  defineMode("adopt-flow-db", ["adopt-flow-db"], {
    parse: (parsed): AdoptFlowsArguments => ({
      ...stateArguments(parsed),
      network: parsed.texts.get("adopt-flow-db") ?? "",
    }),
    async run(options, { environment, output }) {
      const { adoptFlowDatabase } = await import("./adopt-flows.ts");
      return adoptFlowDatabase(options, environment, output);
    },
  }),
];

/** The mode that the daemon's options select. Throws what `misuse` returns. */
export function parseDaemonMode(parsed: ParsedOptions, misuse: Misuse): Invocation {
  const { switches } = parsed;
  const [one, another] = switches.has("version")
    ? []
    : cycleModes.filter((mode) => switches.has(mode));
  if (another !== undefined) throw misuse(`-${one} and -${another} exclude each other`);
  const mode = modes.find((each) =>
    each.switches.some((name) => switches.has(name) || parsed.texts.has(name)),
  );
  if (mode !== undefined) return mode.parse(parsed);
  const options: DaemonArguments = stateArguments(parsed);
  return { command: "serve", options, run: ({ serve }) => serve(options) };
}

/** The general help: the daemon, its modes, and a line for each command. */
export function generalHelp(commands: readonly Command[]): string {
  const lineOf = ({ usage, summary }: Command): string =>
    `  ${`steward ${usage}`.padEnd(SUMMARY_COLUMN)}${summary}\n`;
  const [asking = [], others = []] = [true, false].map((asks) =>
    commands.filter(({ asksDaemon = false }) => asksDaemon === asks).map(lineOf),
  );
  const more = commands.map(({ name }) => `steward ${name} --help`);
  return `${INTRODUCTION}${others.join("")}\nOf the running daemon:\n${asking.join("")}\n${DETAILS}${wrapped("More:", more)}\n`;
}

/** The items, separated by commas, in lines that are not longer than `LINE_LENGTH`. */
function wrapped(start: string, items: readonly string[]): string {
  const lines = [start];
  for (const [index, item] of items.entries()) {
    const word = index === items.length - 1 ? item : `${item},`;
    const line = `${lines.at(-1)} ${word}`;
    if (line.length > LINE_LENGTH) lines.push(word);
    else lines[lines.length - 1] = line;
  }
  return lines.join("\n");
}

const INTRODUCTION = `Steward monitors a private network, finds near-duplicates in a document
archive and mints short-lived GitHub tokens behind a Vault-compatible API.

Usage:
  steward [-config FILE]        run the daemon
  steward -validate [-config FILE]
                                check the configuration and exit
  steward -healthcheck [-config FILE]
                                check whether the running daemon is ready
  steward -preflight [-config FILE]
                                collect from every control plane once, without
                                changing anything
`;

const DETAILS = `Options of the daemon (one dash or two):
  -config FILE   read this YAML file; without it, and without any variable
                 STEWARD_... or PAPERLESS_..., the daemon reads
                 $XDG_CONFIG_HOME/steward/steward.yaml (~/.config if unset),
                 else /etc/steward/steward.yaml
  -demo          run the demo: simulated network, archive and code host, its own
                 state folder, reachable from this machine only. The demo also
                 starts when nothing is configured; STEWARD_DEMO=false prevents
                 that
  -version       print the version alone
  -help          print this text

One-shot modes:
  -validate      print what is wrong with the configuration; exits 0 when it is
                 valid, 1 when it is not
    -json        print a JSON array
    -warnings-as-errors
                 exit 1 when there are only warnings, too
  -print-effective-config
                 print every key as the daemon would use it, without secrets
    -print-effective-config-format json|yaml
    -print-effective-config-provenance
                 say where each value comes from: default, file or env
  -print-effective-config-yaml
                 write a YAML file that loads to the same values; secrets are
                 the names of their files, or comments
  -healthcheck   exits 0 when the daemon is ready, 1 when it is not, 2 when it
                 does not answer
    -healthcheck-timeout 5s
  -preflight     collect from every network once and print the result of each
                 collector; nothing is exported or stored, so it can run beside
                 the daemon
    -preflight-export
                 export the result, too
  -once          collect and export once as the daemon does, and save how far
                 the logs were read; the daemon must not be running
  -exposition-check
                 collect once like -preflight and validate the metrics a scraper
                 would receive, without opening the port
    -preflight-timeout 60s
                 time limit for the whole run of any of these three
    -json        print one JSON object
                 They exit 0 on success, 1 when the configuration or the state
                 folder cannot be used, 3 when a credential was rejected, 4 when
                 something was not collected, 5 when something was not exported
                 or the exposition is invalid, 130 on Ctrl-C
  -adopt-flow-db NETWORK
                 move the flow database that an earlier program left in
                 flows.store.directory into the store of this network; exits 0
                 when that is done or nothing is there, 1 when it is refused,
                 130 on Ctrl-C; run it again to go on. The daemon must not be
                 running

Environment:
  Every key of the file can be set by a variable: gateway.listen is
  STEWARD_GATEWAY__LISTEN. A secret can be read from a file: the variable
  STEWARD_AUTH__TOKEN_FILE names the file that holds auth.token.

Examples:
  steward                       start the demo on http://127.0.0.1:8400
  steward -config steward.yaml  start with your own archives
  curl -s 127.0.0.1:8400/api/v1/duplicates
                                list the duplicate groups
  VAULT_ADDR=http://127.0.0.1:8400 bao read github/doctor
                                check whether tokens can be minted

The daemon prints its address on standard output and logs to standard error.
It exits 0 after Ctrl-C or SIGTERM, 1 on failure, 2 on a usage error.
`;
