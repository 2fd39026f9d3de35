/**
 * The labels of a series as text: built on first use, shared by all metrics of an entity, kept
 * until the last of them ends.
 */
import type { WireRow } from "../messages.ts";
import type { RemoteScope } from "../thread/remote-scope.ts";
import type { Attributes } from "../types.ts";
import { labelName, labelNames } from "./naming.ts";
import { escapeLabelValue } from "./text.ts";

const OVERFLOW = "otel.metric.overflow";

/** Which attributes of a row become which labels in a scope. */
export class LabelPlan {
  /** Whether an attribute is dropped, so that two series may become identical. */
  readonly drops: boolean;
  readonly #scope: RemoteScope;
  readonly #labels: readonly (readonly [attribute: string, label: string])[];

  constructor(row: WireRow, scope: RemoteScope) {
    this.#scope = scope;
    const constants = labelNames(Object.keys(scope.constants));
    const own = labelNames(row.attributes, constants.values());
    this.drops = own.size < row.attributes.length;
    const inOrder = row.attributes.flatMap((attribute) =>
      own.has(attribute) ? [[attribute, own.get(attribute) ?? ""] as const] : [],
    );
    this.#labels = [...inOrder, ...constants, [OVERFLOW, labelName(OVERFLOW)]];
  }

  /**
   * Labels without braces: `a="1",b="2"`. Empty for a series without labels, and for an ended one.
   */
  text(number: number): string {
    const labelled = this.#scope.labelledOf(number);
    if (labelled === undefined) return "";
    return (labelled.labels ??= this.#build(labelled.attributes));
  }

  #build(attributes: Attributes): string {
    const parts: string[] = [];
    for (const [attribute, label] of this.#labels) {
      const value = attributes[attribute];
      if (value !== undefined) parts.push(`${label}="${escapeLabelValue(String(value))}"`);
    }
    // Joined instead of concatenated: V8 keeps the pieces of a concatenation as long as the series
    // lives.
    return parts.join(",");
  }
}

/** The labels of `target_info`: the resource of a scope. */
export function targetLabels(scope: RemoteScope): string {
  const attributes = scope.resource;
  const labels = new Map<string, string>();
  for (const name of Object.keys(attributes).toSorted()) {
    const label = labelName(name);
    if (!labels.has(label)) labels.set(label, escapeLabelValue(String(attributes[name])));
  }
  return [...labels].map(([label, value]) => `${label}="${value}"`).join(",");
}
