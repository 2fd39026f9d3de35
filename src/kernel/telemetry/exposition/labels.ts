/** The label text of a series: built when it is first shown, kept until it ends. */
import type { WireRow } from "../messages.ts";
import type { RemoteScope } from "../thread/remote-scope.ts";
import type { Attributes } from "../types.ts";
import { labelName, labelNames } from "./naming.ts";
import { escapeLabelValue } from "./text.ts";

const OVERFLOW = "otel.metric.overflow";

/** Which attributes of a row's series become which labels, in a scope. */
export class LabelPlan {
  /** Whether an attribute is left out, so that two series may look alike. */
  readonly drops: boolean;
  readonly #scope: RemoteScope;
  readonly #labels: readonly (readonly [attribute: string, label: string])[];

  constructor(row: WireRow, scope: RemoteScope) {
    this.#scope = scope;
    const constants = labelNames(Object.keys(scope.constants));
    const own = labelNames(row.attributes, constants.values());
    this.drops = own.size < row.attributes.length;
    const inOrder = row.attributes.flatMap((attribute) => (own.has(attribute) ? [[attribute, own.get(attribute) ?? ""] as const] : []));
    this.#labels = [...inOrder, ...constants, [OVERFLOW, labelName(OVERFLOW)]];
  }

  /** `a="1",b="2"`, without braces. */
  text(number: number): string {
    const known = this.#scope.labelTexts[number];
    if (known !== undefined) return known;
    const attributes = this.#scope.attributesOf(number) ?? {};
    const text = this.#labels.filter(([attribute]) => attributes[attribute] !== undefined).map(([attribute, label]) => `${label}="${escapeLabelValue(String(attributes[attribute]))}"`).join(",");
    this.#scope.labelTexts[number] = text;
    return text;
  }
}

/** The labels of a scope's `target_info`: its resource and its constants. */
export function targetLabels(scope: RemoteScope): string {
  const attributes: Attributes = { ...scope.resource, ...scope.constants };
  const labels = new Map<string, string>();
  for (const name of Object.keys(attributes).toSorted()) {
    const label = labelName(name);
    if (!labels.has(label)) labels.set(label, escapeLabelValue(String(attributes[name])));
  }
  return [...labels].map(([label, value]) => `${label}="${value}"`).join(",");
}
