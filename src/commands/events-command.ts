/** Declares `steward events`. */
import { defineCommand, refuseOperands } from "./command.ts";
import type { EventsArguments } from "./remote/event-list.ts";
import { REMOTE_HELP, remoteArguments, remoteOptions } from "./remote/options.ts";

const MAX_EVENTS = 1_000;

export const eventsCommand = defineCommand({
  name: "events",
  usage: "events",
  summary: "show or follow what changes in the networks",
  asksDaemon: true,
  options: {
    ...remoteOptions,
    follow: { short: "f" },
    limit: { short: "n", value: { from: 1, to: MAX_EVENTS, whole: true } },
    since: { value: "duration" },
    errors: {},
    source: { value: ["audit", "webhook"] },
    severity: { value: ["info", "warn"] },
    actor: { value: "text" },
    target: { value: "text" },
    action: { value: "text" },
    type: { value: "text" },
  },
  parse(parsed, misuse): EventsArguments {
    refuseOperands(parsed, 0, misuse);
    const { texts, numbers, switches } = parsed;
    const filters = ["source", "severity", "actor", "target", "action", "type"].flatMap((name) => {
      const value = texts.get(name) ?? "";
      return value === "" ? [] : [[name, value] as const];
    });
    return {
      ...remoteArguments(parsed, misuse),
      follow: switches.has("follow"),
      limit: numbers.get("limit") ?? 20,
      sinceMs: numbers.get("since"),
      filters: {
        ...Object.fromEntries(filters),
        ...(switches.has("errors") ? { errors: "1" } : {}),
      },
    };
  },
  async run(options, context) {
    const { events } = await import("./remote/event-list.ts");
    return events(options, context);
  },
  help: `Shows who changed what in the monitored networks, the newest last: records of
their audit logs, and webhook events.

Usage:
  steward events [OPTIONS]

Options:
  --follow        or -f: print further events as they arrive, until Ctrl-C
  --limit N       or -n N: how many, from 1 to 1000; default 20
  --since TIME    only events of this time, e.g. 30m or 24h
  --errors        only changes that failed
  --source WHAT   audit or webhook
  --severity WHAT info or warn
  --actor TEXT    part of the name or id of who did it
  --target TEXT   part of the name or id of what was changed
  --action TEXT   part of the action, e.g. create
  --type TEXT     exactly this type, e.g. config
${REMOTE_HELP}
With --json it prints one object a line.

Examples:
  steward events
  steward events --follow --severity warn
  steward events --since 24h --actor ada --json

Exits 0 on success, 1 on failure, 2 on a usage error, 130 on Ctrl-C.
`,
});
