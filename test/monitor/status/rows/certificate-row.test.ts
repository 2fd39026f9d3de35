import { create, toJson } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { TlsCertificateSchema } from "../../../../src/gen/steward/monitor/v1/process_pb.ts";
import type { CertificateStatus } from "../../../../src/kernel/listen/tls/certificates.ts";
import { certificateOf } from "../../../../src/monitor/status/rows/certificate-row.ts";

const status: CertificateStatus = {
  fingerprint: "ab",
  notBefore: 1_000,
  notAfter: 2_000,
  lastReloadAt: 3_000,
  loadedAt: 4_000,
  failures: 7,
  lastFailureAt: 5_000,
  lastFailure: "no such file",
};
const rowOf = (changes: Partial<CertificateStatus> = {}) =>
  toJson(
    TlsCertificateSchema,
    create(TlsCertificateSchema, certificateOf("stream", { ...status, ...changes })),
    { useProtoFieldName: true },
  );

it("shows when the pair in use replaced another, and when its files were unusable", () => {
  expect(rowOf()).toEqual({
    name: "stream",
    fingerprint: "ab",
    not_before: "1970-01-01T00:00:01Z",
    not_after: "1970-01-01T00:00:02Z",
    last_reload_at: "1970-01-01T00:00:03Z",
    last_reload_failure_at: "1970-01-01T00:00:05Z",
    last_reload_failure_reason: "no such file",
  });
});

it("shows no reload of the first pair, and no failure before the first", () => {
  expect(rowOf({ lastReloadAt: undefined, lastFailureAt: undefined, lastFailure: "" })).toEqual({
    name: "stream",
    fingerprint: "ab",
    not_before: "1970-01-01T00:00:01Z",
    not_after: "1970-01-01T00:00:02Z",
  });
});
