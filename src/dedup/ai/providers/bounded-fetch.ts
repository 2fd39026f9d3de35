/** The `fetch` given to client libraries: no redirects, and no body larger than a limit. */

const LIMIT_BYTES = 4 * 1024 * 1024;

class TooLarge extends Error {
  override readonly name = "TooLarge";
}

/** Whether an answer was cut off at the limit; libraries wrap what a body throws. */
export function isTooLarge(thrown: unknown): boolean {
  for (let error = thrown, depth = 0; error instanceof Error && depth < 5; depth++) {
    if (error instanceof TooLarge) return true;
    error = error.cause;
  }
  return false;
}

/** A redirect is refused: it would take the text of a document, and a key, elsewhere. */
export async function boundedFetch(
  input: string | URL | Request,
  init?: RequestInit,
): Promise<Response> {
  const response = await fetch(input, { ...init, redirect: "error" });
  if (response.body === null) return response;
  let seen = 0;
  const counted = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        seen += chunk.byteLength;
        if (seen > LIMIT_BYTES)
          controller.error(new TooLarge(`an answer has more than ${LIMIT_BYTES} bytes`));
        else controller.enqueue(chunk);
      },
    }),
  );
  return new Response(counted, response);
}
