/**
 * Rules over groups of keys. A rule sees only its group, so it cannot read a key missing from its
 * `needs`.
 */
import type { Source } from "../config.ts";
import type { Complaint, Finding } from "../findings.ts";
import { atKey } from "./key-finding.ts";
import { keysOf, readKeyGroup, type KeyGroup } from "../key-group.ts";
import type { Check, ReadFile } from "../load.ts";

/** What a rule sees of one group. */
export interface CheckedGroup<T> {
  readonly values: T;
  /** For messages about the keys; they have no values. */
  readonly keys: KeyGroup<T>;
  readonly readFile: ReadFile;
  readonly source: (name: keyof T) => Source;
  /** A finding at the location of the key. */
  readonly at: (name: keyof T, severity: Finding["severity"], complaint: Complaint) => Finding;
}

/** A rule applied to each group; groups may share keys: each path is reported once. */
export function checkGroups<T extends object>(
  groups: readonly KeyGroup<T>[],
  rule: (group: CheckedGroup<T>) => readonly Finding[],
): Check {
  return {
    needs: keysOf(...groups),
    run(config, _environment, readFile) {
      const findings = groups.flatMap((keys) =>
        rule({
          keys,
          readFile,
          values: readKeyGroup(config, keys),
          source: (name) => config.source(keys[name]),
          at: (name, severity, complaint) => atKey(config, keys[name], severity, complaint),
        }),
      );
      return findings.filter(
        (finding, index) => findings.findIndex(({ path }) => path === finding.path) === index,
      );
    },
  };
}
