import { create } from "@bufbuild/protobuf";
import fc from "fast-check";
import { expect, it } from "vitest";
import { LeaseRowSchema } from "../../../../src/gen/steward/state/v1/tokens_leases_pb.ts";
import { leaseCodec } from "../../../../src/tokens/vault/leases/lease-codec.ts";

it("a lease is read as it was written, whatever is in it", () => {
  const text = fc
    .oneof(
      fc.string(),
      fc.constant('{"token":"ghs_"}'),
      fc.string({ unit: "binary", maxLength: 3_000 }),
    )
    .filter((one) => one.isWellFormed());
  fc.assert(
    fc.property(
      fc.record({
        id: text,
        mountPoint: text,
        tokenId: text,
        dataJson: text,
        internalDataJson: text,
        failure: text,
        attempts: fc.nat(10),
        expiresAtMs: fc.nat(),
      }),
      (fields) => {
        const row = create(LeaseRowSchema, fields);
        expect(leaseCodec.read(leaseCodec.write(row))).toEqual(row);
      },
    ),
  );
});

it("a lease of a short token is stored as it is, one of a long token deflated", () => {
  const sizeOf = (token: string): readonly (number | undefined)[] => {
    const written = leaseCodec.write(
      create(LeaseRowSchema, {
        id: "github/token/AbCdEfGhIjKlMnOpQrStUvWx",
        dataJson: JSON.stringify({ token }),
      }),
    );
    return [written[0], written.length];
  };
  expect(sizeOf("t".repeat(40))).toEqual([0, 94]);
  const [how, length] = sizeOf("t".repeat(2_000));
  expect([how, (length ?? 0) < 200]).toEqual([1, true]);
});

it("reads what the first version wrote: its words may not change; another version is refused by name", () => {
  const first = Buffer.from(
    "AeNSRTHLMck5xTXNPcMzyzvHN8+/ILAouCS0LLxCiB2qTJOBoSHs354KJytjVAsNCcdGba2THN4AqQUA",
    "base64",
  );
  expect(leaseCodec.read(first)).toEqual(
    create(LeaseRowSchema, {
      id: "github/token/AbCdEfGhIjKlMnOpQrStUvWx",
      mountPoint: "github/",
      expiresAtMs: 1_700_000_000_000,
      dataJson: '{"token":"ghs_1","permissions":{"contents":"read"}}',
      internalDataJson: '{"secret_type":"github_token"}',
    }),
  );
  expect(() => leaseCodec.read(Uint8Array.of(2, 0))).toThrow(
    expect.objectContaining({ code: "unsupported" }),
  );
});
