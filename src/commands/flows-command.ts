/** Declares `steward flows`. */
import { defineCommand, quote, refuseOperands } from "./command.ts";
import type { FlowsArguments, Ranking } from "./remote/flows.ts";
import { REMOTE_HELP, remoteArguments, remoteOptions } from "./remote/options.ts";

const RANKINGS: readonly Ranking[] = ["devices", "pairs", "ports", "users", "tags", "relays"];
const MAX_ROWS = 200;

export const flowsCommand = defineCommand({
  name: "flows",
  usage: "flows top",
  summary: "rank what uses the networks",
  asksDaemon: true,
  words: ["top"],
  options: {
    ...remoteOptions,
    by: { value: RANKINGS },
    window: { value: "duration" },
    network: { value: "text" },
    limit: { short: "n", value: { from: 1, to: MAX_ROWS, whole: true } },
  },
  parse(parsed, misuse): FlowsArguments {
    refuseOperands(parsed, 1, misuse);
    const [action] = parsed.positionals;
    if (action !== "top")
      throw misuse(
        action === undefined ? "top is needed" : `the action must be top, got ${quote(action)}`,
      );
    return {
      ...remoteArguments(parsed, misuse),
      by: RANKINGS.find((ranking) => ranking === parsed.texts.get("by")) ?? "devices",
      windowMs: parsed.numbers.get("window"),
      network: parsed.texts.get("network") ?? "",
      limit: parsed.numbers.get("limit") ?? 20,
    };
  },
  async run(options, context) {
    const { flowsTop } = await import("./remote/flows.ts");
    return flowsTop(options, context);
  },
  help: `Ranks the traffic of the monitored networks that the daemon has stored, by bytes
in both directions.

Usage:
  steward flows top [OPTIONS]

Options:
  --by WHAT       devices (default), pairs, ports, users, tags or relays: peers
                  by what went through a relay
  --window TIME   how far to look back, e.g. 15m or 6h; default 1h
  --network NAME  of several networks, only this one
  --limit N       or -n N: rows, from 1 to 200; default 20
${REMOTE_HELP}
Examples:
  steward flows top
  steward flows top --by pairs --window 6h -n 5
  steward flows top --by ports --json

Exits 0 on success, 1 on failure, 2 on a usage error, 130 on Ctrl-C.
`,
});
