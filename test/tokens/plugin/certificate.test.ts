import { createPrivateKey, X509Certificate } from "node:crypto";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { createIds, systemIds } from "../../../src/kernel/base/ids.ts";
import { createIdentity } from "../../../src/tokens/plugin/certificate.ts";

describe("the plugin's certificate", () => {
  it("is self-signed, for localhost, for both ends of a connection, and its own authority", async () => {
    const { privateKey, certificate, der } = await createIdentity({
      clock: systemClock,
      ids: systemIds,
    });
    const read = new X509Certificate(certificate);
    expect(read.raw.equals(Buffer.from(der))).toBe(true);
    expect(read.verify(read.publicKey)).toBe(true);
    expect(read.checkPrivateKey(createPrivateKey(privateKey))).toBe(true);
    expect(read.ca).toBe(true);
    expect(read.subjectAltName).toBe("DNS:localhost");
    expect(read.checkHost("localhost")).toBe("localhost");
    // clientAuth and serverAuth.
    expect(read.keyUsage).toEqual(["1.3.6.1.5.5.7.3.2", "1.3.6.1.5.5.7.3.1"]);
  });

  it("is valid from half a minute ago for about thirty years", async () => {
    const nowMs = Date.UTC(2026, 10, 25);
    const { certificate } = await createIdentity({
      clock: { ...systemClock, now: () => nowMs },
      ids: systemIds,
    });
    const { validFromDate, validToDate } = new X509Certificate(certificate);
    expect(validFromDate.getTime()).toBe(nowMs - 30_000);
    expect(validToDate.getUTCFullYear()).toBe(2056);
  });

  it.each([0x00, 0x7f, 0x80, 0xff])(
    "has a positive serial number of 16 bytes, whatever is drawn (%i)",
    async (byte) => {
      const { certificate } = await createIdentity({
        clock: systemClock,
        ids: createIds((length) => new Uint8Array(length).fill(byte)),
      });
      expect(new X509Certificate(certificate).serialNumber).toMatch(/^[4-7][0-9A-F]{31}$/);
    },
  );

  it("is another one at each start", async () => {
    const one = await createIdentity({ clock: systemClock, ids: systemIds });
    const other = await createIdentity({ clock: systemClock, ids: systemIds });
    expect(one.privateKey).not.toBe(other.privateKey);
  });
});
