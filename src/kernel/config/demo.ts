/** Decides whether this start is the demo, and restricts it. */
import { StewardError, toStewardError } from "../base/errors.ts";
import { formatAddress, isLoopback, type Address } from "./values/address.ts";
import { nearest } from "../base/text/nearest.ts";
import type { Finding } from "./findings.ts";
import type { Environment } from "./key.ts";
import { parseBoolean } from "./values/types.ts";

/** The decision and its reason, for the first log lines. */
export interface DemoDecision {
  readonly demo: boolean;
  readonly reason: string;
}

export interface DemoSigns {
  /** `-demo` was given. */
  readonly flag: boolean;
  /** The file of `-config`. */
  readonly file: string | undefined;
  readonly environment: Environment;
}

const DEMO = "STEWARD_DEMO";
/** Root token of the demo's Vault API. */
const DEMO_ROOT_TOKEN = "STEWARD_DEMO_ROOT_TOKEN";

/**
 * The flag, then `STEWARD_DEMO`, then the absence of any configuration. Throws `invalid` when
 * `STEWARD_DEMO` is not a boolean.
 */
export function decideDemo(signs: DemoSigns): DemoDecision {
  if (signs.flag) return { demo: true, reason: "-demo was given" };
  const text = signs.environment[DEMO];
  if (text !== undefined && text !== "") {
    const demo = parseBoolean(text);
    if (demo === undefined)
      throw new StewardError(
        "invalid",
        `STEWARD_DEMO must be true or false, got ${JSON.stringify(text)}`,
        { field: DEMO },
      );
    return { demo, reason: `STEWARD_DEMO is ${text}` };
  }
  if (signs.file !== undefined) return { demo: false, reason: `${signs.file} is configured` };
  const variable = Object.keys(signs.environment)
    .toSorted()
    .find((name) => counts(name) && signs.environment[name] !== "");
  if (variable !== undefined) return { demo: false, reason: `${variable} is set` };
  return { demo: true, reason: "there is no configuration" };
}

/**
 * Problems of the demo's variables; an empty one is unset. `decision` defaults to the one made from
 * `signs`.
 */
export function demoVariables(signs: DemoSigns, decision?: DemoDecision): Finding[] {
  const set = Object.keys(signs.environment)
    .filter((name) => name.startsWith(DEMO) && name !== DEMO && signs.environment[name] !== "")
    .toSorted();
  const unknown = set
    .filter((name) => name !== DEMO_ROOT_TOKEN)
    .map((name): Finding => {
      const meant = nearest(name, [DEMO, DEMO_ROOT_TOKEN]);
      return {
        severity: "warning",
        path: name,
        variable: name,
        rule: "is not a known variable and is ignored",
        ...(meant === undefined ? {} : { nearest: meant }),
      };
    });
  try {
    const { demo, reason } = decision ?? decideDemo(signs);
    if (demo || !set.includes(DEMO_ROOT_TOKEN)) return unknown;
    return [
      {
        severity: "warning",
        path: DEMO_ROOT_TOKEN,
        variable: DEMO_ROOT_TOKEN,
        rule: `is ignored: this is no demo, because ${reason}`,
        remedy: "start with -demo, or unset it.",
      },
      ...unknown,
    ];
  } catch (error) {
    const { message } = toStewardError(error);
    return [
      { severity: "error", path: DEMO, variable: DEMO, rule: message.replace(`${DEMO} `, "") },
      ...unknown,
    ];
  }
}

/**
 * Throws `invalid` when a listener of a demo is reachable from other machines. Undefined: no such
 * listener.
 */
export function assertDemoOnLoopback(setting: string, listen: Address | undefined): void {
  if (listen === undefined || isLoopback(listen.host)) return;
  throw new StewardError(
    "invalid",
    `the demo only listens on this machine, ${setting} is ${formatAddress(listen)}: listen on 127.0.0.1, or run without -demo`,
    {
      field: setting,
      rule: "loopback",
      remedy: "listen on 127.0.0.1, or run without -demo",
    },
  );
}

function counts(name: string): boolean {
  return (
    name === "PAPERLESS_URL" || (name.startsWith("STEWARD_") && !name.startsWith("STEWARD_DEMO"))
  );
}
