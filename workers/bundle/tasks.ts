/** The task that makes a support bundle of a status. */
import type { TaskRow } from "../control.ts";

/** What a bundle is made of. */
export interface BundleInput {
  /** The status document as JSON in UTF-8. */
  readonly status: Uint8Array;
  /** Of the archive; milliseconds since 1970. */
  readonly atMs: number;
  readonly version: string;
  /** Whether the devices go with it. */
  readonly devices: boolean;
}

/** A status document → a zip archive. Throws what parsing the document throws. */
export const supportBundle: TaskRow<BundleInput, Uint8Array> = {
  name: "support-bundle",
  file: new URL("./bundle.ts", import.meta.url),
};
