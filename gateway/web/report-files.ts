/**
 * What a page that is one file carries in itself: the style sheet of all pages with that of the
 * report, and the browser modules of the report as one script. A built tree carries the outcome
 * instead of this module (tools/build/asset-data.ts).
 */
import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join, resolve } from "node:path";
import { assert } from "../../src/kernel/base/errors.ts";
import { STYLES } from "./style-files.ts";

/** Texts of the elements of one page. */
export interface ReportFiles {
  readonly style: string;
  /** Runs before the first paint. */
  readonly early: string;
  readonly script: string;
}

const FOLDER = import.meta.dirname;
const IMPORT = /^import \{([^}]*)\} from "(\.[^"]+)";$/gm;
const EXPORT = /^export (?=(?:async )?(?:function|const|class) (\w+))/gm;

export function makeReportFiles(): ReportFiles {
  const styles = [...STYLES, "report.css"];
  return {
    style: styles.map((file) => readFileSync(join(FOLDER, "style", file), "utf8")).join(""),
    early: read(join(FOLDER, "browser/early.ts")),
    script: `(() => {\n"use strict";\n${joinModules(join(FOLDER, "browser/report.ts"))}})();\n`,
  };
}

/** A module and all that it imports, each in a function of its own, those imported first. */
function joinModules(entry: string): string {
  const names = new Map<string, string>();
  const parts: string[] = [];
  const add = (file: string): string => {
    const known = names.get(file);
    if (known !== undefined) return known;
    const exported: string[] = [];
    const code = read(file)
      .replaceAll(IMPORT, (_all, imported: string, specifier: string) => {
        return `const {${imported}} = ${add(resolve(file, "..", specifier))};`;
      })
      .replaceAll(EXPORT, (_all, name: string) => {
        exported.push(name);
        return "";
      });
    assert(
      !/^(import|export)\b/m.test(code),
      `${file} has an import or export that cannot be joined`,
    );
    const name = `module${names.size}`;
    names.set(file, name);
    parts.push(`const ${name} = (() => {\n${code}\nreturn { ${exported.join(", ")} };\n})();\n`);
    return name;
  };
  add(entry);
  return parts.join("");
}

function read(file: string): string {
  const code = stripTypeScriptTypes(readFileSync(file, "utf8"));
  assert(!/<\/script|<!--/i.test(code), `${file} holds what would end a script of a page`);
  return code.trim();
}
