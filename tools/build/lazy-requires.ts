/**
 * Lets the bundler follow packages that modules of others load with `createRequire`: left as they
 * are, they would be looked for in a `node_modules` that the built tree does not have.
 */
import { isBuiltin } from "node:module";
import type { OutputBundle, Plugin } from "rolldown";

/** As packages that were bundled by rolldown write it. */
const LAZY_REQUIRE = /\b__require(?:\$\d+)?\("([^"]+)"\)/g;

/**
 * `__require("a package")` becomes an import of that package. Throws when the bundle would still
 * look for a package that is not one of `unbundled`.
 */
export function lazyRequires(unbundled: readonly string[]): Plugin {
  const outside = (name: string): boolean => isBuiltin(name) || unbundled.includes(name);
  return {
    name: "lazy-requires",
    transform: {
      filter: { id: /\/node_modules\/.*\.mjs$/, code: /__require\("/ },
      handler(code) {
        const names = required(code).filter((name) => !outside(name));
        if (names.length === 0) return null;
        const variable = (name: string): string => `__required_${names.indexOf(name)}`;
        const imports = names.map((name) => `import * as ${variable(name)} from "${name}";\n`);
        return (
          imports.join("") +
          code.replaceAll(LAZY_REQUIRE, (call, name: string) =>
            names.includes(name) ? variable(name) : call,
          )
        );
      },
    },
    generateBundle(_options, bundle) {
      const missing = requiredBy(bundle).filter((name) => !outside(name));
      if (missing.length > 0)
        throw new Error(
          `the bundle requires packages that it does not contain: ${missing.join(", ")}`,
        );
    },
  };
}

function requiredBy(bundle: OutputBundle): string[] {
  const chunks = Object.values(bundle).filter((file) => file.type === "chunk");
  return [...new Set(chunks.flatMap(({ code }) => required(code)))];
}

function required(code: string): string[] {
  const names = code.matchAll(LAZY_REQUIRE).map(([, name = ""]) => name);
  return [...new Set(names)];
}
