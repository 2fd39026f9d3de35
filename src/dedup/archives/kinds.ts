/** Detects documents by file name. */

/** How a file's text is found. `plain` must prove to be text, since its name does not say so. */
type FileKind = "text" | "markdown" | "html" | "plain";

export interface FileType {
  readonly kind: FileKind;
  readonly gzip: boolean;
  /** The name without the endings that say the type. */
  readonly stem: string;
}

const byEnding: Readonly<Record<string, FileKind>> = {
  txt: "text",
  text: "text",
  log: "text",
  debian: "text",
  md: "markdown",
  markdown: "markdown",
  rst: "markdown",
  adoc: "markdown",
  html: "html",
  htm: "html",
  xhtml: "html",
};

const MANUAL_SECTION = /^[1-9](pm|perl|ssl|posix|x)?$/;

/** Folders in which a version control system keeps its own files. */
export const versionControlFolders: ReadonlySet<string> = new Set([
  ".git",
  ".hg",
  ".svn",
  ".bzr",
  "CVS",
]);

/** The type of a file by its name, or undefined when it is no document. */
export function fileType(name: string): FileType | undefined {
  const gzip = /\.gz$/i.test(name) && name.length > 3;
  const bare = gzip ? name.slice(0, -3) : name;
  const dot = bare.lastIndexOf(".");
  if (dot <= 0) return { kind: "plain", gzip, stem: bare };
  const ending = bare.slice(dot + 1).toLowerCase();
  const kind = Object.hasOwn(byEnding, ending)
    ? byEnding[ending]
    : MANUAL_SECTION.test(ending)
      ? "text"
      : undefined;
  return kind && { kind, gzip, stem: bare.slice(0, dot) };
}

/** The ending of a name for counting, e.g. `.png`; "no ending" without one. */
export function endingOf(name: string): string {
  const dot = name.lastIndexOf(".");
  return dot <= 0 ? "no ending" : name.slice(dot).toLowerCase();
}
