/** Answers from a YAML file, for `steward init --answers`. */
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { StewardError, toStewardError } from "../../kernel/base/errors.ts";
import { Secret } from "../../kernel/base/secret.ts";
import { nearest } from "../../kernel/base/text/nearest.ts";
import { formatFinding } from "../../kernel/config/findings.ts";
import { readYaml } from "../../kernel/config/sources/file.ts";
import type { Raw } from "../../kernel/config/values/raw.ts";
import { MISSING, type Answers, type Question } from "./answers.ts";

/** Reads the file. Throws what the system says, and `invalid` for a file that is no YAML. */
export function openFileAnswers(path: string): Answers {
  const given = valuesOf(path);
  const asked = new Set<string>();
  const textOf = (id: string): string | undefined => {
    asked.add(id);
    return given.get(id)?.trim() || undefined;
  };
  const missing = ({ id, text }: Pick<Question, "id" | "text">): StewardError =>
    new StewardError("invalid", `${path} lacks ${id}: ${text}`, {
      field: id,
      rule: MISSING,
      remedy: "steward init --help lists the answers",
    });
  return {
    read(question) {
      const answer = textOf(question.id) ?? question.usual;
      return answer === undefined ? Promise.reject(missing(question)) : Promise.resolve(answer);
    },
    readSecret(question) {
      const [direct, file] = [textOf(question.id), textOf(`${question.id}_file`)];
      if (direct !== undefined && file !== undefined)
        return Promise.reject(
          new StewardError("invalid", `${path} gives ${question.id} twice, as value and as file`, {
            field: question.id,
            rule: MISSING,
            remedy: "remove one of them",
          }),
        );
      const value = file === undefined ? direct : readText(resolve(dirname(path), file)).trim();
      return value === undefined || value === ""
        ? Promise.reject(missing(question))
        : Promise.resolve(Secret.of(value, question.id));
    },
    refuse(error) {
      throw error;
    },
    finish() {
      const unused = [...given.keys()].filter((id) => !asked.has(id));
      if (unused.length === 0) return;
      const [first = ""] = unused;
      const meant = nearest(first, asked);
      throw new StewardError(
        "invalid",
        `${path} has answers that nothing asks for: ${unused.join(", ")}`,
        {
          field: first,
          remedy:
            meant === undefined
              ? "remove them, or choose what needs them; steward init --help lists the answers"
              : `${meant} is similar to ${first}`,
        },
      );
    },
    close() {
      // The file was read at once.
    },
  };
}

function valuesOf(path: string): ReadonlyMap<string, string> {
  const { root, findings } = readYaml(readText(path), path);
  if (findings.length > 0)
    throw new StewardError("invalid", findings.map(formatFinding).join("\n"));
  const values = new Map<string, string>();
  flatten(root, "", values);
  return values;
}

/** A list becomes text with commas, as in variables. */
function flatten(raw: Raw, path: string, values: Map<string, string>): void {
  switch (raw.kind) {
    case "map":
      for (const [name, value] of raw.entries)
        flatten(value, path === "" ? name : `${path}.${name}`, values);
      return;
    case "list":
      values.set(path, raw.items.map((item) => (item.kind === "text" ? item.text : "")).join(","));
      return;
    case "text":
      values.set(path, raw.text);
      return;
    case "nothing":
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new StewardError(
      "not_found",
      `${path} cannot be read: ${toStewardError(error).message}`,
      {
        rule: MISSING,
        remedy: "check the path and its permissions",
        cause: error,
      },
    );
  }
}
