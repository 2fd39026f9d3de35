/**
 * `-validate` looks whether configured paths are there. The daemon starts without some of them, so
 * that each is a warning: an archive may be mounted later.
 */
import { accessSync, constants, statSync, type Stats } from "node:fs";
import { dirname, resolve } from "node:path";
import { dedupArchives } from "../dedup/config.ts";
import { checkpoint } from "../monitor/config/upkeep-keys.ts";
import { toStewardError } from "../kernel/base/errors.ts";
import type { Config } from "../kernel/config/config.ts";
import type { Finding } from "../kernel/config/findings.ts";
import { stateFolder } from "../kernel/state/backups/state-keys.ts";
import { servicesDedup, servicesTokens } from "../daemon/config/process-keys.ts";
import type { Schema } from "../kernel/config/key.ts";
import { path as pathType } from "../kernel/config/values/types.ts";
import { tokensAudit } from "../tokens/config.ts";

/** Keys of this name are folders that Steward makes and writes to. */
const WRITTEN = ".directory";
const CHECK = "check the path and its permissions.";

/**
 * What is wrong with the paths of a sound configuration, in the order of the schema. Touches
 * nothing.
 */
export function pathFindings(config: Config, schema: Schema): Finding[] {
  const plain = schema
    .filter(({ type }) => type === pathType)
    .flatMap((key) => {
      const value = config.get(key) as string;
      if (value === "") return [];
      if (key.path === checkpoint.filePath.path) return creatable(key.path, dirname(value));
      return key.path.endsWith(WRITTEN)
        ? creatable(key.path, value)
        : readable(key.path, value, "file");
    });
  const archives = config.get(servicesDedup)
    ? config
        .get(dedupArchives)
        .flatMap(({ kind, path }, index) =>
          path === undefined
            ? []
            : readable(
                `${dedupArchives.path}[${index}].path`,
                path,
                kind === "folder" ? "folder" : "file",
              ),
        )
    : [];
  const audit = config.get(servicesTokens)
    ? config
        .get(tokensAudit)
        .flatMap(({ file_path: path }, index) =>
          creatable(
            `${tokensAudit.path}[${index}].file_path`,
            dirname(resolve(config.get(stateFolder), path)),
          ),
        )
    : [];
  return [...plain, ...archives, ...audit];
}

/** A file or folder that is read. A pipe or device is as good as a file. */
function readable(key: string, path: string, kind: "file" | "folder"): Finding[] {
  try {
    const isFolder = statSync(path).isDirectory();
    if (isFolder !== (kind === "folder"))
      return [
        warning(
          key,
          `${path} is ${isFolder ? "a folder" : "no folder"}`,
          `give the path of a ${kind}.`,
        ),
      ];
    accessSync(path, isFolder ? constants.R_OK | constants.X_OK : constants.R_OK);
    return [];
  } catch (thrown) {
    return [
      warning(
        key,
        isMissing(thrown)
          ? `${path} does not exist`
          : `${path} cannot be read: ${toStewardError(thrown).message}`,
        kind === "folder" ? "mount or make it, or correct the path." : CHECK,
      ),
    ];
  }
}

/** A folder that is made where it is missing: what there is of the way to it must be folders. */
function creatable(key: string, path: string): Finding[] {
  for (let at = resolve(path); ; at = dirname(at)) {
    const found = look(at);
    if (found?.isDirectory() === true || (found === undefined && at === dirname(at))) return [];
    if (found !== undefined) return [warning(key, `${at} is no folder`, CHECK)];
  }
}

function look(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    // A file on the way: its own turn comes.
    return undefined;
  }
}

function isMissing(thrown: unknown): boolean {
  const { code } = thrown as { readonly code?: unknown };
  return code === "ENOENT" || code === "ENOTDIR";
}

function warning(path: string, rule: string, remedy: string): Finding {
  return { severity: "warning", path, rule, remedy };
}
