import { describe, expect, it } from "vitest";
import { httpStatus } from "../../../gateway/codes.ts";
import { type Code, StewardError } from "../../../src/kernel/base/errors.ts";
import { unsupportedOperation, unsupportedPath } from "../../../src/tokens/logical/occurred.ts";
import { failureReply, protoError, toReply } from "../../../src/tokens/plugin/replies.ts";
import { HOST_ERROR } from "../../../src/tokens/plugin/storage.ts";

describe("a reply to the host", () => {
  it("has no response for no data, which is 404 or 204", () => {
    expect(toReply(undefined)).toEqual({});
  });

  it("has data that is JSON in any case", () => {
    expect(toReply({ warnings: ["careful"] }).response).toMatchObject({
      data: "null",
      warnings: ["careful"],
    });
    expect(toReply({ data: {} }).response?.data).toBe("{}");
    expect(toReply({ data: { keys: ["a"] } }).response?.data).toBe('{"keys":["a"]}');
  });

  it("has a lease with its time in nanoseconds, a time of issue, and what revokes it", () => {
    const secret = { ttlMs: 3_599_000.4, renewable: false, internalData: { secret_type: "x" } };
    expect(toReply({ data: {}, secret }).response?.secret).toEqual({
      leaseOptions: {
        TTL: 3_599_000_400_000n,
        renewable: false,
        issueTime: { seconds: -62_135_596_800n, nanos: 0 },
      },
      internalData: '{"secret_type":"x"}',
    });
  });

  it("has a raw body in base64, also one that is base64 already", () => {
    const raw = { status: 200, contentType: "text/plain", body: "bWV0cmljcw==" };
    expect(JSON.parse(toReply({ raw }).response?.data ?? "")).toEqual({
      http_content_type: "text/plain",
      http_status_code: 200,
      http_raw_body: Buffer.from("bWV0cmljcw==").toString("base64"),
    });
  });
});

describe("an error for the host", () => {
  it("is a response when the caller is to blame", () => {
    expect(failureReply(new StewardError("invalid", "no such field"))).toEqual({
      response: { data: '{"error":"no such field"}' },
    });
  });

  it("has the kinds that the host knows for paths and operations", () => {
    expect(protoError(unsupportedOperation()).errType).toBe(5);
    expect(protoError(unsupportedPath()).errType).toBe(6);
  });

  it("has the status that the daemon's own API gives it", () => {
    const codes: readonly Code[] = [
      "invalid",
      "denied",
      "not_found",
      "conflict",
      "too_large",
      "exhausted",
      "upstream",
      "deadline",
      "not_ready",
      "sealed",
      "cancelled",
      "corrupt",
      "internal",
    ];
    for (const code of codes) {
      const error = new StewardError(code, "text");
      expect([code, protoError(error)]).toEqual([
        code,
        { errType: 3, errMsg: "text", errCode: BigInt(httpStatus(error, "vault")) },
      ]);
    }
  });

  it("is the host's own text when its storage refused, and nothing else of our mistakes", () => {
    const text = "cannot write to readonly storage";
    expect(failureReply(new StewardError("denied", text, { rule: HOST_ERROR }))).toEqual({
      err: { errType: 0, errMsg: text },
    });
    expect(failureReply(new TypeError("token ghs_secret is not a function")).err?.errMsg).toBe(
      "internal error",
    );
  });
});
