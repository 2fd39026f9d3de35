/** Rows of `tls_certificates`. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { TlsCertificateSchema } from "../../../gen/steward/monitor/v1/process_pb.ts";
import type { CertificateStatus } from "../../../kernel/listen/tls/certificates.ts";

/** The row of one listener's certificate. */
export function certificateOf(
  name: string,
  { fingerprint, notBefore, notAfter, lastReloadAt, lastFailureAt, lastFailure }: CertificateStatus,
): MessageInitShape<typeof TlsCertificateSchema> {
  return {
    name,
    fingerprint,
    notBefore: timestampFromMs(notBefore),
    notAfter: timestampFromMs(notAfter),
    lastReloadFailureReason: lastFailure,
    ...(lastReloadAt === undefined ? {} : { lastReloadAt: timestampFromMs(lastReloadAt) }),
    ...(lastFailureAt === undefined ? {} : { lastReloadFailureAt: timestampFromMs(lastFailureAt) }),
  };
}
