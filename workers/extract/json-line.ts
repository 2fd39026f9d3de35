/**
 * Parses one JSON text that is too large for the main thread and gives back only what fits in a
 * document.
 */
import { hash } from "node:crypto";
import type { JsonLine, JsonLineValue } from "./tasks.ts";

/**
 * The value of the line with its text fields cut to `units`; `error` says what is wrong with it
 * instead.
 */
export function run({ bytes, textFields, units }: JsonLine): JsonLineValue {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return { error: "is not valid UTF-8" };
  }
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || Array.isArray(value))
      return { value: Array.isArray(value) ? [] : null };
    return cutTexts(value as Record<string, unknown>, textFields, units);
  } catch (error) {
    return {
      error: `is not valid JSON: ${error instanceof Error ? error.message.slice(0, 120) : "unknown"}`,
    };
  }
}

function cutTexts(
  record: Record<string, unknown>,
  textFields: readonly string[],
  units: number,
): JsonLineValue {
  const cut = { ...record };
  let beyond: string | undefined;
  for (const field of textFields) {
    const text = cut[field];
    if (typeof text !== "string" || text.length <= units) continue;
    cut[field] = text.slice(0, units);
    beyond ??= hash("sha256", text.slice(units));
  }
  return { value: cut, ...(beyond !== undefined && { beyond }) };
}
