/** `profiling` of the status, as plain data. */
import type { UploadStatus } from "./upload-stats.ts";

/** Configuration and upload statistics, without credentials. */
export interface ProfilingStatus {
  readonly profileEndpointEnabled: boolean;
  readonly profilerEnabled: boolean;
  /** Without credentials; empty when none is configured. */
  readonly profilerServer: string;
  /** In HTTP notation, e.g. `X-Org`; sorted. */
  readonly profilerHeaderNames: readonly string[];
  readonly profilerTlsClientCert: boolean;
  readonly profilerTlsCustomCa: boolean;
  readonly profilerTlsInsecureSkipVerify: boolean;
  /** Whether a password or an authorization header is configured. */
  readonly profilerAuthSet: boolean;
  /** While the profiler is on. */
  readonly profilerUpload: UploadStatus | undefined;
}

/** `x-org` → `X-Org`. */
export function canonicalHeader(name: string): string {
  return name.toLowerCase().replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase());
}
