/** How long Steward takes to stop, which every deployment must wait before it kills the process. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

const source = readFileSync(join(import.meta.dirname, "../../src/daemon/serve.ts"), "utf8");
/** NaN when the daemon has no such constant; no time is at least that. */
const stopMs = Number(
  (/^const STOP_MS = ([\d_]+);$/m.exec(source)?.[1] ?? "NaN").replaceAll("_", ""),
);
const HEADROOM_MS = 15_000;

/** The shortest time that a deployment may give: the longest orderly stop, and some to spare. */
export const MIN_STOP_SECONDS = (stopMs + HEADROOM_MS) / 1_000;
