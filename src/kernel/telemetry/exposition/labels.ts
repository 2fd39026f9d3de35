/** What stands before the value of a series: built when it is first shown, kept until it ends. */
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
  readonly #family: string;
  readonly #histogram: boolean;
  readonly #labels: readonly (readonly [attribute: string, label: string])[];

  constructor(family: string, row: WireRow, scope: RemoteScope) {
    this.#scope = scope;
    this.#family = family;
    this.#histogram = row.kind === "histogram";
    const constants = labelNames(Object.keys(scope.constants));
    const own = labelNames(row.attributes, constants.values());
    this.drops = own.size < row.attributes.length;
    const inOrder = row.attributes.flatMap((attribute) => (own.has(attribute) ? [[attribute, own.get(attribute) ?? ""] as const] : []));
    this.#labels = [...inOrder, ...constants, [OVERFLOW, labelName(OVERFLOW)]];
  }

  /** The line up to its value, `name{a="1",b="2"} `; of a histogram, which has many lines, the labels alone: `a="1",b="2"`. */
  text(number: number): string {
    return this.#scope.lineTexts[number] ?? this.#build(number);
  }

  #build(number: number): string {
    const attributes = this.#scope.attributesOf(number) ?? {};
    const parts: string[] = [];
    for (const [attribute, label] of this.#labels) {
      const value = attributes[attribute];
      if (value !== undefined) parts.push(`${label}="${escapeLabelValue(String(value))}"`);
    }
    // Joined and not added up: V8 would keep the pieces of a sum for as long as the series lives.
    const labels = parts.join(",");
    const text = this.#histogram ? labels : [this.#family, ...(labels === "" ? [] : ["{", labels, "}"]), " "].join("");
    this.#scope.lineTexts[number] = text;
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
