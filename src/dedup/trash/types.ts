/** Types of the trash. */

/** Where a file lies in the trash. */
export interface TrashPlace {
  readonly to: string;
  /** The file that says where it came from; absent where the system has none. */
  readonly info?: string;
  /** What that file says of it, as its `Path` line. */
  readonly infoPath?: string;
}

/** What decides which trash it is. */
export interface TrashUser {
  /** HOME and XDG_DATA_HOME. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Effective user id. */
  readonly userId: number;
  readonly platform: NodeJS.Platform;
}

/** Candidate places of a system, best first; creates the trash folders. */
export interface TrashPlaces {
  /** Names in the trash that fits the file, without end. Throws `unsupported` where none fits. */
  placesFor(path: string): Promise<(attempt: number) => TrashPlace>;
}
