/** Reads server-sent events (WHATWG HTML §9.2) as they arrive. */
import { createParser, type EventSourceMessage } from "eventsource-parser";
import { StewardError } from "../../kernel/base/errors.ts";

/** An event of the daemon is a few kilobytes; the reply about a backup lists its stores. */
const MAX_PENDING_CHARACTERS = 2 ** 20;

/** The events of a body, until it ends. Throws `upstream` for an event without an end. */
export async function* readEvents(
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<EventSourceMessage, void, undefined> {
  const events: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => void events.push(event) });
  const decoder = new TextDecoder();
  let pending = 0;
  for await (const chunk of body) {
    const text = decoder.decode(chunk, { stream: true });
    pending += text.length;
    parser.feed(text);
    if (events.length > 0) pending = 0;
    if (pending > MAX_PENDING_CHARACTERS)
      throw new StewardError("upstream", "the daemon sent an event without an end");
    yield* events.splice(0);
  }
}
