import { describe, expect, it } from "vitest";
import { createCall, takesGzip } from "../../src/kernel/service.ts";

function takes(accept: string | undefined): boolean {
  return takesGzip(createCall({ signal: new AbortController().signal, requestId: "r", headers: accept === undefined ? {} : { "accept-encoding": accept } }));
}

describe("A client takes gzip", () => {
  it.each(["gzip", "gzip, deflate, br, zstd", "br;q=1.0, gzip;q=0.8", "x-gzip", "*", "GZIP", "deflate, *;q=0.5", "gzip;q=0.001"])("when it says %s", (accept) => {
    expect(takes(accept)).toBe(true);
  });

  it.each([undefined, "", "identity", "br", "gzip;q=0", "gzip; q=0.0, *", "*;q=0", "gzipped"])("not when it says %s", (accept) => {
    expect(takes(accept)).toBe(false);
  });
});
