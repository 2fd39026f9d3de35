/**
 * Parses one JSON text that is too large for the main thread and gives back only what fits in a
 * document.
 */
import { hash } from "node:crypto";
import type { JsonLine, JsonLineValue } from "./tasks.ts";

/**
 * The value of the line with its `content` cut to `units`; `error` says what is wrong with it
 * instead.
 */
export function run({ bytes, units }: JsonLine): JsonLineValue {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return { error: "is not valid UTF-8" };
  }
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || Array.isArray(value))
      return { value: Array.isArray(value) ? [] : null, cut: false };
    const record = value as Record<string, unknown>;
    const content = record["content"];
    const cut = typeof content === "string" && content.length > units;
    if (!cut) return { value: record, cut };
    const beyond = hash("sha256", content.slice(units));
    return { value: { ...record, content: content.slice(0, units) }, cut, beyond };
  } catch (error) {
    return {
      error: `is not valid JSON: ${error instanceof Error ? error.message.slice(0, 120) : "unknown"}`,
    };
  }
}
