import { describe, expect, it } from "vitest";
import { readAiSettings } from "../../../src/dedup/ai/keys.ts";
import { systemPrompt, userPrompt } from "../../../src/dedup/ai/prompt.ts";

const settings = readAiSettings((key) => key.default);
const names = { correspondents: ["Water"], documentTypes: ["Invoice"], tags: ["inbox"] };

describe("what a model is told", () => {
  it("is no name that exists, unless its setting is on", () => {
    const plain = systemPrompt(settings, names);
    expect(plain).not.toMatch(/Water|inbox|Existing (correspondents|document types|tags)/);
    const lists = {
      includeCorrespondents: "Existing correspondents: Water",
      includeDocumentTypes: "Existing document types: Invoice",
      includeTags: "Existing tags: inbox",
    };
    for (const [setting, line] of Object.entries(lists)) {
      expect(systemPrompt({ ...settings, [setting]: true }, names)).toBe(`${plain}\n${line}`);
    }
  });

  it("has the beginning and the end of a text that is too long", () => {
    const text = `${"a".repeat(700)}${"b".repeat(700)}`;
    const told = userPrompt("Title", text, 500);
    expect(told).toMatch(/^Title: Title\n\nText:\na+\n\[… text left out …\]\nb+$/);
    expect(told).toHaveLength("Title: Title\n\nText:\n".length + 500);
    expect(userPrompt("Title", text, 1_400)).toContain(text);
  });
});
