import { create, type DescMessage, type MessageInitShape } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { checkRules } from "../../../src/kernel/wire/validate.ts";
import { declaredServices } from "../../../tools/declared-services.ts";
import { ListGroupsRequestSchema } from "../../../src/gen/steward/dedup/v1/duplicates_pb.ts";
import {
  CreateSampleRequestSchema,
  ListSamplesRequestSchema,
  SampleKind,
} from "../../gen/steward/test/v1/dedup_sample_pb.ts";

/** Messages of requests, with those in their fields. */
async function requestMessages(): Promise<ReadonlySet<DescMessage>> {
  const found = new Set<DescMessage>();
  const add = (message: DescMessage | undefined): void => {
    if (message === undefined || found.has(message)) return;
    found.add(message);
    for (const field of message.fields) add(field.message);
  };
  for (const { methods } of await declaredServices()) for (const { input } of methods) add(input);
  return found;
}

const good = { name: "a", kind: SampleKind.PLAIN };

describe("validation", () => {
  it("has no rule that cannot be compiled, in any message of a request", async () => {
    const messages = await requestMessages();
    expect(messages.size).toBeGreaterThan(95);
    for (const message of messages)
      expect(() => checkRules(message, create(message)), message.typeName).not.toThrow();
  });

  it("finds nothing in a good message", () => {
    expect(
      checkRules(
        CreateSampleRequestSchema,
        create(CreateSampleRequestSchema, { ...good, jaccard: 40, fuzzy: 60 }),
      ),
    ).toEqual([]);
    expect(checkRules(ListSamplesRequestSchema, create(ListSamplesRequestSchema))).toEqual([]);
  });

  const bad: [
    MessageInitShape<typeof CreateSampleRequestSchema>,
    (string | number)[],
    string,
    string,
  ][] = [
    [{ ...good, name: "" }, ["name"], "name must be given and not empty", "string.min_len"],
    [
      { ...good, name: "x".repeat(21) },
      ["name"],
      "name must have at most 20 characters",
      "string.max_len",
    ],
    [
      { ...good, kind: SampleKind.UNSPECIFIED },
      ["kind"],
      "kind must be one of plain, large_scan, Other-Kind",
      "enum.not_in",
    ],
    [
      { ...good, kind: 9 as SampleKind },
      ["kind"],
      "kind must be one of plain, large_scan, Other-Kind",
      "enum.defined_only",
    ],
    [
      { ...good, groupIds: ["1", "2", "3", "4", "5", "6"] },
      ["groupIds"],
      "groupIds must hold at most 5 values",
      "repeated.max_items",
    ],
    [
      { ...good, groupIds: ["1", "1"] },
      ["groupIds"],
      "groupIds must not contain a value twice",
      "repeated.unique",
    ],
    [{ ...good, jaccard: 1, fuzzy: 2 }, [], "jaccard and fuzzy must sum to 100", "weights_sum"],
  ];
  it.each(bad)("of %o names %o and the rule", (init, path, message, rule) => {
    expect(checkRules(CreateSampleRequestSchema, create(CreateSampleRequestSchema, init))).toEqual([
      { path, message, code: "invalid_value", rule },
    ]);
  });

  it("says limits in plain words and names list elements", () => {
    const found = checkRules(
      ListGroupsRequestSchema,
      create(ListGroupsRequestSchema, { limit: 101, offset: -1, minConfidence: 2, status: [0] }),
    );
    expect(found.map((detail) => detail.message)).toEqual([
      "limit must be between 1 and 100",
      "offset must be at least 0",
      "minConfidence must be between 0 and 1",
      "status[0] must be one of pending, false_positive, ignored, deleted",
    ]);
  });
});
