/** Resolves aliases of keys, e.g. `log_level` for `logging.level`. */
import type { Finding } from "../findings.ts";
import type { Schema } from "../key.ts";
import type { Raw } from "../values/raw.ts";

/** Moves the values of aliases to their keys. Both names in one layer must have the same value. */
export function foldAliases(values: Map<string, Raw>, schema: Schema, findings: Finding[]): void {
  for (const key of schema) {
    for (const alias of key.aliases ?? []) {
      const raw = values.get(alias);
      if (raw === undefined) continue;
      values.delete(alias);
      const direct = values.get(key.path);
      if (direct === undefined) values.set(key.path, raw);
      else if (!sameText(direct, raw))
        findings.push({
          severity: "error",
          path: alias,
          rule: `is another name of ${key.path} and has a different value`,
          remedy: "remove one of them.",
          ...raw.location,
        });
    }
  }
}

function sameText(left: Raw, right: Raw): boolean {
  return left.kind === "text" && right.kind === "text" && left.text === right.text;
}
