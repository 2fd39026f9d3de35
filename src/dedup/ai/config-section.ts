/** The AI settings as `ai.model` and so on among all settings as text; a list is JSON. */
import { StewardError } from "../../kernel/base/errors.ts";
import type { Settings } from "../../kernel/settings/types.ts";
import { withFieldNames } from "../api/field-names.ts";
import type { ConfigSection } from "../app-config.ts";
import { AI_SCOPE, aiSettings, leafOf, readAiSettings } from "./keys.ts";

export function aiSection(settings: Pick<Settings, "get" | "change" | "preview">): ConfigSection {
  return {
    prefix: "ai.",
    read: () =>
      Object.fromEntries(
        Object.entries(readAiSettings(settings.get)).map(([name, value]) => [
          name,
          typeof value === "object" ? JSON.stringify(value) : String(value),
        ]),
      ),
    check(values) {
      const patch = patchOf(values);
      try {
        settings.preview(AI_SCOPE, patch);
      } catch (error) {
        throw withFieldNames(error, Object.keys(aiSettings), leafOf);
      }
    },
    async change(values) {
      const patch = patchOf(values);
      try {
        await settings.change(AI_SCOPE, patch);
      } catch (error) {
        throw withFieldNames(error, Object.keys(aiSettings), leafOf);
      }
    },
  };
}

function patchOf(values: Readonly<Record<string, string>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(values).map(([name, text]) => [leafOf(name), valueOf(name, text)]),
  );
}

/** Settings read numbers and switches from text themselves. */
function valueOf(name: string, text: string): unknown {
  if (name !== ("protectedTagNames" satisfies keyof typeof aiSettings)) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    const message = `ai.${name} must be a list of names as JSON, such as ["inbox"]`;
    throw new StewardError("invalid", message, {
      field: `ai.${name}`,
      details: [{ path: [`ai.${name}`], message, code: "custom" }],
    });
  }
}
