import { describe, expect, it } from "vitest";
import type { AnnotationEvent } from "../../../src/monitor/annotations/types.ts";
import { unnamedWhere } from "../../../src/monitor/annotations/unnamed.ts";
import type { PrivacyCategory, PrivacyOptions } from "../../../src/monitor/options.ts";

const shown = new Proxy({}, { get: () => true }) as PrivacyOptions;
const hidden = (category: PrivacyCategory): PrivacyOptions =>
  new Proxy({}, { get: (_, name) => name !== category }) as PrivacyOptions;
const expiry: AnnotationEvent = {
  category: "expiry",
  timeMs: 1,
  text: "the key of laptop-ada expires",
  tags: ["laptop-ada"],
  identity: "x",
};
const change: AnnotationEvent = {
  category: "config_change",
  timeMs: 1,
  text: "the policy was changed",
  tags: ["acl"],
  identity: "y",
};

function told(privacy: PrivacyOptions): AnnotationEvent[] {
  const events: AnnotationEvent[] = [];
  const sink = unnamedWhere(privacy, { publish: (event) => void events.push(event) });
  sink.publish(expiry);
  sink.publish(change);
  return events;
}

describe("Annotations under privacy", () => {
  it("are as they are while nothing is hidden", () => {
    expect(told(shown)).toEqual([expiry, change]);
  });

  it.each(["hostnames", "node_ids", "user_ids", "free_text_details"] as const)(
    "name nobody where %s are hidden, and stay apart",
    (category) => {
      const [unnamed, same] = told(hidden(category));
      expect(unnamed).toMatchObject({ identity: "x", tags: [] });
      expect(JSON.stringify(unnamed)).not.toContain("laptop-ada");
      expect(same).toEqual(change);
    },
  );
});
