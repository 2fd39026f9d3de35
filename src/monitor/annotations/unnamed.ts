/**
 * Annotations leave the house like any export: where privacy hides names, an expiry says that
 * something ends, and not what.
 */
import type { PrivacyOptions } from "../options.ts";
import type { AnnotationSink } from "./types.ts";

/** The texts of expiries name a host, or a key with what was written about it. */
const NAMED: readonly (keyof PrivacyOptions)[] = [
  "hostnames",
  "node_ids",
  "user_ids",
  "free_text_details",
];
const UNNAMED_TEXT = "A credential or a node key expires soon.";

/** The sink as privacy allows it. */
export function unnamedWhere(privacy: PrivacyOptions, sink: AnnotationSink): AnnotationSink {
  if (NAMED.every((category) => privacy[category])) return sink;
  return {
    tell: (event) =>
      sink.tell(event.category === "expiry" ? { ...event, text: UNNAMED_TEXT, tags: [] } : event),
  };
}
