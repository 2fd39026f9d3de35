/** Answers without the envelope, as Vault gives them where the store may be sealed. */
import type { LogicalResponse } from "../../logical/types.ts";

/** `sent` is called when the answer was handed to the system. */
export function bare(
  body: Readonly<Record<string, unknown>>,
  { status = 200, sent }: { readonly status?: number; readonly sent?: () => void } = {},
): LogicalResponse {
  return {
    raw: {
      status,
      contentType: "application/json",
      body: `${JSON.stringify(body)}\n`,
      ...(sent === undefined ? {} : { sent }),
    },
  };
}
