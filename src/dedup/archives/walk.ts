/**
 * A walk through a folder in a stable order. The tree itself comes first, then the folders that
 * links lead to, then single linked files, so that every real file is found once and under its own
 * name where it has one. Memory: the open folders' entries, every folder's path, every link.
 */
import { lstat, realpath, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { SkippedItem } from "./archive.ts";
import { refFits } from "../../../workers/extract/refs.ts";
import { failed, passedOver } from "./archive.ts";
import { listFolder } from "./entries.ts";
import type { Entry, EntryKind } from "./entries.ts";
import type { Globs } from "./globs.ts";
import { isLeftOut, otherType, versionControlFolders } from "./kinds.ts";
import { systemCode, unreadable } from "./unreadable.ts";

/** A file that may be a document; its content decides. */
export interface FoundFile {
  readonly kind: "file";
  readonly path: string;
  readonly ref: string;
}

/** `fraction` is the progress. */
export type Found = { readonly found: FoundFile | SkippedItem; readonly fraction: number };

interface Link {
  readonly path: string;
  readonly ref: string;
}

interface Frame {
  readonly real: string;
  /** "" for the root, else it ends in a slash. */
  readonly prefix: string;
  readonly entries: readonly Entry[];
  at: number;
  readonly start: number;
  readonly width: number;
}

interface State {
  readonly root: string;
  readonly globs: Globs;
  readonly signal: AbortSignal;
  /** Real path of each folder walked, with the prefix of its refs. */
  readonly walked: Map<string, string>;
  readonly folderLinks: Link[];
  readonly fileLinks: Link[];
}

/** Walks below `root`, a real path. Throws the system's error when the root cannot be listed. */
export async function* walk(
  root: string,
  globs: Globs,
  signal: AbortSignal,
): AsyncGenerator<Found> {
  const state: State = {
    root,
    globs,
    signal,
    walked: new Map([[root, ""]]),
    folderLinks: [],
    fileLinks: [],
  };
  const top: Frame = {
    real: root,
    prefix: "",
    entries: await listFolder(root, signal),
    at: 0,
    start: 0,
    width: 0.9,
  };
  yield* walkTree(state, top);
  let reached = 0.9;
  for (let at = 0; at < state.folderLinks.length; at++) {
    const link = state.folderLinks[at] as Link;
    const width = (0.99 - reached) / 2;
    yield* walkLinkedFolder(state, link, reached, width);
    reached += width;
  }
  const seen = new Set<string>();
  for (const link of state.fileLinks)
    yield { found: await linkedFile(state, link, seen), fraction: 0.99 };
}

async function* walkTree(state: State, top: Frame): AsyncGenerator<Found> {
  const frames = [top];
  for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
    const entry = frame.entries[frame.at];
    if (entry === undefined) {
      frames.pop();
      continue;
    }
    state.signal.throwIfAborted();
    const width = frame.width / frame.entries.length;
    const start = frame.start + frame.at * width;
    frame.at += 1;
    const below = yield* visit(state, frame, entry, start, width);
    if (below !== undefined) frames.push(below);
  }
}

// Yields what the entry is, or returns the frame of a folder to go into.
async function* visit(
  state: State,
  frame: Frame,
  entry: Entry,
  start: number,
  width: number,
): AsyncGenerator<Found, Frame | undefined> {
  const path = join(frame.real, entry.name);
  const ref = frame.prefix + entry.name;
  const fraction = start + width;
  if (!refFits(ref)) {
    yield {
      found: failed(ref, "path too long", "its path is too long to be stored", "none"),
      fraction,
    };
    return undefined;
  }
  try {
    const kind = entry.kind === "unknown" ? await kindOf(path) : entry.kind;
    if (kind === "folder") return yield* enter(state, { path, ref }, start, width);
    if (kind === "link") yield* sortLink(state, { path, ref }, fraction);
    else
      yield {
        found:
          kind === "file"
            ? byName(state, path, ref)
            : passedOver(ref, "no file", "is a device, socket or pipe"),
        fraction,
      };
  } catch (error) {
    if (state.signal.aborted) throw error;
    yield { found: unreadable(ref, error, "below"), fraction };
  }
  return undefined;
}

async function* enter(
  state: State,
  folder: Link,
  start: number,
  width: number,
): AsyncGenerator<Found, Frame | undefined> {
  if (state.walked.has(folder.path)) return undefined;
  const name = basename(folder.ref);
  if (versionControlFolders.has(name))
    yield {
      found: passedOver(
        folder.ref,
        "version control",
        "contains files of a version control system",
      ),
      fraction: start,
    };
  else if (state.globs.prunes(folder.ref))
    yield {
      found: passedOver(folder.ref, "excluded", "is excluded by the patterns"),
      fraction: start,
    };
  else if (isLeftOut(name) && !state.globs.names(name))
    yield { found: leftOut(folder.ref, name), fraction: start };
  else {
    state.walked.set(folder.path, `${folder.ref}/`);
    const entries = await listFolder(folder.path, state.signal);
    return { real: folder.path, prefix: `${folder.ref}/`, entries, at: 0, start, width };
  }
  return undefined;
}

function byName(state: State, path: string, ref: string): FoundFile | SkippedItem {
  if (!state.globs.takes(ref)) return passedOver(ref, "excluded", "is excluded by the patterns");
  const name = basename(ref);
  if (isLeftOut(name) && !state.globs.names(name)) return leftOut(ref, name);
  const other = otherType(name);
  return other === undefined
    ? { kind: "file", path, ref }
    : passedOver(ref, other.reason, other.detail);
}

function leftOut(ref: string, name: string): SkippedItem {
  return name === "node_modules"
    ? passedOver(ref, "node_modules", "contains installed packages; a pattern can include it")
    : passedOver(ref, "hidden", "is hidden; a pattern can include it");
}

async function* sortLink(state: State, link: Link, fraction: number): AsyncGenerator<Found> {
  try {
    const target = await stat(link.path);
    if (target.isDirectory()) state.folderLinks.push(link);
    else if (target.isFile()) state.fileLinks.push(link);
    else
      yield {
        found: passedOver(link.ref, "no file", "points to a device, socket or pipe"),
        fraction,
      };
  } catch (error) {
    const broken = ["ENOENT", "ELOOP", "ENOTDIR"].includes(systemCode(error) ?? "");
    yield {
      found: broken
        ? failed(
            link.ref,
            "broken link",
            systemCode(error) === "ELOOP"
              ? "the link points back to itself"
              : "the target of the link does not exist",
            "below",
          )
        : unreadable(link.ref, error, "below"),
      fraction,
    };
  }
}

async function* walkLinkedFolder(
  state: State,
  link: Link,
  start: number,
  width: number,
): AsyncGenerator<Found> {
  let frame: Frame | undefined;
  try {
    const real = await realpath(link.path);
    const holdsRoot = `${state.root}/`.startsWith(real === "/" ? real : `${real}/`);
    if (holdsRoot || state.walked.has(real)) {
      yield {
        found: passedOver(
          link.ref,
          "link",
          holdsRoot
            ? "points to a parent folder of this archive"
            : "points to a folder that was already read",
        ),
        fraction: start,
      };
      return;
    }
    frame = yield* enter(state, { path: real, ref: link.ref }, start, width);
  } catch (error) {
    if (state.signal.aborted) throw error;
    yield { found: unreadable(link.ref, error, "below"), fraction: start };
  }
  if (frame !== undefined) yield* walkTree(state, frame);
}

async function linkedFile(
  state: State,
  link: Link,
  seen: Set<string>,
): Promise<FoundFile | SkippedItem> {
  try {
    const real = await realpath(link.path);
    const found = byName(state, real, link.ref);
    // Not read, so a later link with a name that is read is not passed over.
    if (found.kind === "skipped") return found;
    const prefix = state.walked.get(dirname(real));
    const hasOwnName =
      prefix !== undefined && byName(state, real, prefix + basename(real)).kind === "file";
    if (hasOwnName || seen.has(real))
      return passedOver(link.ref, "link", "points to a file that was already read");
    seen.add(real);
    return found;
  } catch (error) {
    if (state.signal.aborted) throw error;
    return unreadable(link.ref, error, "itself");
  }
}

async function kindOf(path: string): Promise<EntryKind> {
  const facts = await lstat(path);
  return facts.isFile()
    ? "file"
    : facts.isDirectory()
      ? "folder"
      : facts.isSymbolicLink()
        ? "link"
        : "other";
}
