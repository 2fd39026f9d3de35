/** `steward devices`: the devices of the monitored networks. */
import type { Device, StatusJson } from "../../gen/status-json.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import type { CommandContext } from "../command.ts";
import { counted, formatCount } from "../report/text.ts";
import type { RemoteArguments } from "./options.ts";
import { ifFound, runRemote } from "./run.ts";
import { formatWhen, tableLines } from "./table.ts";

export interface DevicesArguments extends RemoteArguments {
  /** Part of a name, user, tag, address or system. */
  readonly search: string | undefined;
  readonly offline: boolean;
}

export function devices(options: DevicesArguments, context: CommandContext): Promise<number> {
  return runRemote(options, context, async ({ daemon, signal, print, printJson, style, nowMs }) => {
    const status = await ifFound(daemon.json<StatusJson>({ path: "/api/status.json" }, signal));
    if (status === undefined)
      throw new StewardError("not_found", "this daemon does not show a monitored network", {
        remedy: "services.monitor, admin.enabled and admin.landing_page must be true",
      });
    const { devices: all } = status;
    const matching = all.filter((device) => isWanted(device, options));
    if (printJson(matching)) return 0;
    if (matching.length > 0)
      for (const line of tableLines(
        [
          { head: "NAME" },
          { head: "ONLINE" },
          { head: "LAST SEEN" },
          { head: "KEY EXPIRES" },
          { head: "SYSTEM" },
          { head: "USER" },
          { head: "ADDRESSES" },
        ],
        matching.map((device) => rowOf(device, nowMs)),
      ))
        print(line);
    const online = matching.filter((device) => device.online).length;
    print(
      style.quiet(
        matching.length === 0
          ? all.length === 0
            ? "no devices are known"
            : "no device matches"
          : `${counted(matching.length, "device")}, ${formatCount(online)} online`,
      ),
    );
    return 0;
  });
}

function rowOf(device: Device, nowMs: number): string[] {
  return [
    device.hostname,
    device.online ? "yes" : "no",
    device.online ? "" : formatWhen(device.last_seen, nowMs),
    device.key_expires_at === undefined ? "" : formatWhen(device.key_expires_at, nowMs),
    [device.os, device.os_version].filter((part) => part !== "").join(" "),
    device.tags === undefined || device.tags.length === 0 ? device.user : device.tags.join(" "),
    device.addrs.join(" "),
  ];
}

function isWanted(device: Device, { search, offline }: DevicesArguments): boolean {
  if (offline && device.online) return false;
  if (search === undefined) return true;
  const { name, hostname, user, os, tags = [], addrs } = device;
  const wanted = search.toLowerCase();
  return [name, hostname, user, os, ...tags, ...addrs].some((text) =>
    text.toLowerCase().includes(wanted),
  );
}
