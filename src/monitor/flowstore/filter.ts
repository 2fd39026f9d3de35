/** Filters of single connections, as questions to their texts. */
import type { FlowFilter } from "./flow-store.ts";
import type { StoredFlow } from "./types.ts";

/** Texts that a filter may ask. */
type FilteredText =
  | "verdict"
  | "trafficType"
  | "path"
  | "srcNode"
  | "dstNode"
  | "srcAddr"
  | "dstAddr"
  | "dstService"
  | "srcUser"
  | "dstUser"
  | "srcTags"
  | "dstTags";

/** One of the texts must pass the test. */
export interface Clause {
  readonly texts: readonly FilteredText[];
  readonly test: (text: string) => boolean;
}

/** All of them must hold; empty without a filter. */
export function clausesOf(filter: FlowFilter): readonly Clause[] {
  const is = (wanted: string, ...texts: FilteredText[]): Clause[] => {
    const folded = wanted.toLowerCase();
    return wanted === "" ? [] : [{ texts, test: (text) => text.toLowerCase() === folded }];
  };
  const has = (wanted: string, ...texts: FilteredText[]): Clause[] => {
    const folded = wanted.toLowerCase();
    return wanted === "" ? [] : [{ texts, test: (text) => text.toLowerCase().includes(folded) }];
  };
  return [
    ...is(filter.verdict, "verdict"),
    ...is(filter.type, "trafficType"),
    ...is(filter.path, "path"),
    ...has(filter.device, "srcNode", "dstNode"),
    ...has(filter.addr, "srcAddr", "dstAddr"),
    ...has(filter.service, "dstService"),
    ...has(filter.identity, "srcUser", "dstUser", "srcTags", "dstTags"),
  ];
}

export function matcher(filter: FlowFilter): (flow: StoredFlow) => boolean {
  const clauses = clausesOf(filter);
  return (flow) => clauses.every(({ texts, test }) => texts.some((text) => test(flow[text])));
}
