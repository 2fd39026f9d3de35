/** What an archive says about itself when its connection is tested. */

/** What an archive says about itself. */
export interface ArchiveDescription {
  /** Of its software; empty when it does not say. */
  readonly version: string;
  /** Highest version of its API; undefined when it does not say. */
  readonly apiVersion?: string;
  readonly documents: number;
}
