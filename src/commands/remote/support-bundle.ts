/** `steward support-bundle`: diagnostics for a bug report, as a ZIP file. */
import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { StewardError } from "../../kernel/base/errors.ts";
import type { CommandContext } from "../command.ts";
import { formatSize } from "../report/size.ts";
import type { RemoteArguments } from "./options.ts";
import { ifFound, runRemote } from "./run.ts";

export interface SupportBundleArguments extends RemoteArguments {
  /** Default: a name with the time, in the present folder. */
  readonly file: string | undefined;
  readonly devices: boolean;
}

/** Writes a new file; one of that name is left as it is. */
export function supportBundle(
  options: SupportBundleArguments,
  context: CommandContext,
): Promise<number> {
  return runRemote(options, context, async ({ daemon, signal, print, printJson, nowMs }) => {
    const archive = await ifFound(
      daemon.bytes(
        { path: "/api/support-bundle.zip", query: options.devices ? { include_devices: "1" } : {} },
        signal,
      ),
    );
    if (archive === undefined)
      throw new StewardError("not_found", "this daemon makes no support bundle", {
        remedy: "services.monitor, admin.enabled and admin.landing_page must be true",
      });
    const stamp = new Date(nowMs).toISOString().replaceAll(/[-:]|\.\d+/g, "");
    const file = resolve(options.file ?? `steward-support-${stamp}.zip`);
    try {
      await writeFile(file, archive, { flag: "wx", mode: 0o600 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      throw new StewardError("conflict", `${file} exists already; name another FILE`, {
        cause: error,
      });
    }
    if (!printJson({ file, bytes: archive.length }))
      print(`${file}: ${formatSize(archive.length)}${options.devices ? "" : ", without devices"}`);
    return 0;
  });
}
