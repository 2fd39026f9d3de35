/** What an archive says about itself when its connection is tested. */

/** What an archive says about itself. */
export interface ArchiveDescription {
  /** Of its software; empty when it does not say. */
  readonly version: string;
  readonly documents: number;
}
