/** Annotations: configuration changes and expiries, shown as marks on dashboards. */

/** Categories that can be switched off one by one. */
export type AnnotationCategory = "config_change" | "expiry" | "startup";

export interface AnnotationEvent {
  readonly category: AnnotationCategory;
  readonly timeMs: number;
  /** One sentence. */
  readonly text: string;
  readonly tags: readonly string[];
  /** Annotations with the same identity are written once. */
  readonly identity: string;
}

/** Never blocks the caller. */
export interface AnnotationSink {
  publish(event: AnnotationEvent): void;
}
