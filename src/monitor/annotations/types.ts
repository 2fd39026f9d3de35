/** What a person should see in the graphs: changes and expiries, as marks on a dashboard. */

/** A kind of mark that can be switched off. */
export type AnnotationCategory = "config_change" | "expiry" | "startup";

/** Something that happened. */
export interface AnnotationEvent {
  readonly category: AnnotationCategory;
  readonly timeMs: number;
  /** One sentence. */
  readonly text: string;
  readonly tags: readonly string[];
  /** Marks with the same identity are written once. */
  readonly identity: string;
}

/** Takes events and never delays who tells them. */
export interface AnnotationSink {
  tell(event: AnnotationEvent): void;
}
