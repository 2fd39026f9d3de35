/** Reads and validates the policy file of the hosted control plane. */
import { createHash } from "node:crypto";
import { misshapen, type Reader } from "../read.ts";
import { fields } from "../decode/fields.ts";
import type { Policy, PolicyFindings } from "../model.ts";
import { findingsOf } from "./network.ts";

const HUJSON = "application/hujson";

/** Returns the policy verbatim, comments included. */
export async function readPolicy(
  { client }: Reader,
  path: string,
  signal: AbortSignal,
): Promise<Policy> {
  // Accepts only HuJSON, so that the server does not convert to JSON; servers label it with several
  // media types.
  const reply = await client.call(
    {
      operation: "acl",
      method: "GET",
      path,
      read: "bytes",
      headers: { accept: HUJSON },
      accept: `${HUJSON}, application/json, text/plain`,
      idempotent: true,
    },
    signal,
  );
  const text = Buffer.from(reply.body).toString("utf8");
  return {
    text,
    etag: reply.headers["etag"] ?? createHash("sha256").update(reply.body).digest("hex"),
    updatedMs: undefined,
  };
}

/** Validates a policy; changes nothing. */
export async function validatePolicy(
  { name, client }: Reader,
  path: string,
  text: string,
  signal: AbortSignal,
): Promise<PolicyFindings> {
  const { value } = await client.call(
    {
      operation: "acl/validate",
      method: "POST",
      path,
      body: { type: HUJSON, bytes: text },
      idempotent: true,
    },
    signal,
  );
  const json = value === undefined ? {} : fields(value);
  if (json === undefined)
    throw misshapen(name, "acl/validate", "another thing instead of an object");
  return findingsOf(json);
}
