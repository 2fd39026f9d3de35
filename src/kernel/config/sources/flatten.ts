/** Finds the values of known keys in a file's tree, and reports unknown keys. */
import type { Finding } from "../findings.ts";
import { sections, type Schema } from "../key.ts";
import { nearest } from "../../base/text/nearest.ts";
import { foldAliases } from "./aliases.ts";
import { currentName } from "./former-names.ts";
import { describeKind, isBlank, type Raw } from "../values/raw.ts";

/** The raw values by path. A secret `a.b` may also appear as `a.b_file`. */
export interface Flat {
  readonly values: ReadonlyMap<string, Raw>;
  readonly findings: readonly Finding[];
}

/** Walks the tree along the schema's sections. Keys without a value are unset. */
export function flattenFile(root: Raw & { readonly kind: "map" }, schema: Schema): Flat {
  const types = new Map(
    schema.flatMap((key) =>
      [key.path, ...(key.aliases ?? [])].map((path) => [path, key.type] as const),
    ),
  );
  const paths = new Set(
    schema.flatMap((key) => [
      key.path,
      ...(key.aliases ?? []),
      ...(key.secret === true ? [`${key.path}_file`] : []),
    ]),
  );
  const groups = new Set([...paths].flatMap(sections));
  const values = new Map<string, Raw>();
  const findings: Finding[] = [];

  const walk = (map: Raw & { readonly kind: "map" }, prefix: string): void => {
    for (const [name, raw] of map.entries) {
      const path = prefix === "" ? name : `${prefix}.${name}`;
      if (paths.has(path)) {
        if (!isBlank(raw, types.get(path)?.holds)) values.set(path, raw);
      } else if (!groups.has(path)) findings.push(unknownKey(path, raw, [...paths, ...groups]));
      else if (raw.kind === "map") walk(raw, path);
      else if (!isBlank(raw, "group"))
        findings.push({
          severity: "error",
          path,
          rule: `must be a group of keys, got ${describeKind(raw)}`,
          ...raw.location,
        });
    }
  };
  walk(root, "");
  foldAliases(values, schema, findings);
  return { values, findings };
}

function unknownKey(path: string, raw: Raw, known: readonly string[]): Finding {
  const current = currentName(path);
  if (current !== undefined && known.includes(current)) {
    return {
      severity: "error",
      path,
      rule: `is called ${current} here`,
      remedy: "docs/configuration.md names its keys.",
      ...raw.location,
    };
  }
  const parent = path.includes(".") ? path.slice(0, path.lastIndexOf(".")) : "";
  const siblings = known.filter(
    (candidate) =>
      (candidate.includes(".") ? candidate.slice(0, candidate.lastIndexOf(".")) : "") === parent,
  );
  const meant = nearest(path, siblings) ?? nearest(path, known) ?? sameLeaf(path, known);
  const remedy =
    meant === undefined && siblings.length > 0
      ? `known here: ${siblings.toSorted().join(", ")}.`
      : undefined;
  return {
    severity: "error",
    path,
    rule: "is not a known key",
    ...raw.location,
    ...(meant === undefined ? {} : { nearest: meant }),
    ...(remedy === undefined ? {} : { remedy }),
  };
}

// `listen` at the root is most likely `gateway.listen` without its section.
function sameLeaf(path: string, known: readonly string[]): string | undefined {
  const leaf = path.slice(path.lastIndexOf(".") + 1);
  const matches = known.filter((candidate) => candidate.endsWith(`.${leaf}`));
  return matches.length === 1 ? matches[0] : undefined;
}
