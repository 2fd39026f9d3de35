/** `profiling` of the status, as plain data. */
import type { UploadStatus } from "./upload-stats.ts";

/** What is on, where profiles go, and how that goes. No value of a credential. */
export interface ProfilingStatus {
  readonly profileEndpointEnabled: boolean;
  readonly profilerEnabled: boolean;
  /** Without credentials; empty when none is configured. */
  readonly profilerServer: string;
  /** As HTTP writes them, e.g. `X-Org`; sorted. */
  readonly profilerHeaderNames: readonly string[];
  readonly profilerTlsClientCert: boolean;
  readonly profilerTlsCustomCa: boolean;
  readonly profilerTlsInsecureSkipVerify: boolean;
  /** Whether a password or a header of authorization is configured. */
  readonly profilerAuthSet: boolean;
  /** While the profiler is on. */
  readonly profilerUpload: UploadStatus | undefined;
}

/** `x-org` → `X-Org`. */
export function canonicalHeader(name: string): string {
  return name.toLowerCase().replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase());
}
