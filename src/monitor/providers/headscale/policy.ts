/** Reads Headscale's policy: a text in an object, or status 500 when none is set. */
import { createHash } from "node:crypto";
import { failureOf, type Failure } from "../../../kernel/client/failure.ts";
import { timeMs } from "../decode/time.ts";
import type { Policy } from "../model.ts";
import { malformed, type Reader } from "../read.ts";
import { fields, wholeText } from "../decode/fields.ts";

// Error text of a server without a policy, in both versions. It may persist.
const NONE = /acl policy not found|reading policy from path/;

function saysNone({ status, body }: Failure): boolean {
  return status === 500 && body !== undefined && NONE.test(body);
}

/** Undefined when there is no policy. */
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
    const json = fields(value);
    if (typeof json?.["policy"] !== "string")
      throw malformed(name, "policy", "no text of a policy");
    const policy = wholeText(json["policy"]);
    return {
      text: policy,
      etag: createHash("sha256").update(policy).digest("hex"),
      updatedMs: timeMs(json["updatedAt"]),
    };
  } catch (error) {
    const failure = failureOf(error);
    if (failure !== undefined && saysNone(failure)) return undefined;
    throw error;
  }
}
