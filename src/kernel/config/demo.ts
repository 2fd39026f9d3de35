/** Whether this start is the demo, and what the demo may not do (RESOLUTIONS §2, Demo). */
import { StewardError } from "../base/errors.ts";
import { formatAddress, isLoopback, type Address } from "./address.ts";
import type { Environment } from "./key.ts";
import { parseBoolean } from "./types.ts";

/** The decision and why, in words for the first lines of the log. */
export interface DemoDecision {
  readonly demo: boolean;
  readonly reason: string;
}

/** What decides. */
export interface DemoSigns {
  /** `-demo` was given. */
  readonly flag: boolean;
  /** The file of `-config`. */
  readonly file: string | undefined;
  readonly environment: Environment;
}

/** Flag, then `STEWARD_DEMO`, then the absence of any configuration. Throws `invalid` when `STEWARD_DEMO` is no boolean. */
export function decideDemo(signs: DemoSigns): DemoDecision {
  if (signs.flag) return { demo: true, reason: "-demo was given" };
  const text = signs.environment["STEWARD_DEMO"];
  if (text !== undefined && text !== "") {
    const demo = parseBoolean(text);
    if (demo === undefined) throw new StewardError("invalid", `STEWARD_DEMO must be true or false, got ${JSON.stringify(text)}`, { field: "STEWARD_DEMO" });
    return { demo, reason: `STEWARD_DEMO is ${text}` };
  }
  if (signs.file !== undefined) return { demo: false, reason: `${signs.file} is configured` };
  const variable = Object.keys(signs.environment).toSorted().find((name) => counts(name) && signs.environment[name] !== "");
  if (variable !== undefined) return { demo: false, reason: `${variable} is set` };
  return { demo: true, reason: "there is no configuration" };
}

/** Throws `invalid` when a demo would listen where other machines reach it. */
export function assertDemoOnLoopback(listen: Address): void {
  if (isLoopback(listen.host)) return;
  throw new StewardError("invalid", `the demo only listens on this machine, gateway.listen is ${formatAddress(listen)}: listen on 127.0.0.1, or run without -demo`, {
    field: "gateway.listen", rule: "loopback", remedy: "listen on 127.0.0.1, or run without -demo",
  });
}

function counts(name: string): boolean {
  return name === "PAPERLESS_URL" || (name.startsWith("STEWARD_") && !name.startsWith("STEWARD_DEMO"));
}
