/**
 * Annotations are exported, so the privacy filter applies: while names are hidden, an expiry does
 * not say what expires.
 */
import type { PrivacyOptions } from "../options.ts";
import type { AnnotationSink } from "./types.ts";

/** Expiry texts name a host, or a key and its description. */
const NAMED: readonly (keyof PrivacyOptions)[] = [
  "hostnames",
  "node_ids",
  "user_ids",
  "free_text_details",
];
const UNNAMED_TEXT = "A credential or a node key expires soon.";

/** Wraps the sink according to the privacy options. */
export function unnamedWhere(privacy: PrivacyOptions, sink: AnnotationSink): AnnotationSink {
  if (NAMED.every((category) => privacy[category])) return sink;
  return {
    publish: (event) =>
      sink.publish(
        event.category === "expiry" ? { ...event, text: UNNAMED_TEXT, tags: [] } : event,
      ),
  };
}
