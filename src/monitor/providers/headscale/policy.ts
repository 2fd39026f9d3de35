/** Headscale's policy: a text in an object, or a 500 that says that there is none. */
import { createHash } from "node:crypto";
import { failureOf, type Failure } from "../../../kernel/client/failure.ts";
import { timeMs } from "../decode/time.ts";
import type { Policy } from "../model.ts";
import { misshapen, type Reader } from "../read.ts";
import { fields, wholeText } from "../decode/fields.ts";

// What an installation without a policy says, in the words of both versions; it may say so for
// ever.
const NONE = /acl policy not found|reading policy from path/;

function saysNone({ status, body }: Failure): boolean {
  return status === 500 && body !== undefined && NONE.test(body);
}

/** Reads it; undefined when there is none. */
export async function readPolicy(
  { name, client }: Reader,
  signal: AbortSignal,
): Promise<Policy | undefined> {
  try {
    const { value } = await client.call(
      {
        operation: "policy",
        method: "GET",
        path: "/api/v1/policy",
        idempotent: true,
        settled: saysNone,
      },
      signal,
    );
    const told = fields(value);
    if (typeof told?.["policy"] !== "string")
      throw misshapen(name, "policy", "no text of a policy");
    const policy = wholeText(told["policy"]);
    return {
      text: policy,
      etag: createHash("sha256").update(policy).digest("hex"),
      updatedMs: timeMs(told["updatedAt"]),
    };
  } catch (error) {
    const failure = failureOf(error);
    if (failure !== undefined && saysNone(failure)) return undefined;
    throw error;
  }
}
