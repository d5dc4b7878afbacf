/** Texts of the agent in the workspace that nobody has agreed to, and the scripts that may name them. */
export interface UnagreedTexts {
  /** Files that calls created or changed, relative to the workspace, whose text is neither the one before nor one that a person agreed to. */
  readonly files: readonly string[];
  /** Those of the files that are programs by their name or their first line (`#!`). */
  readonly programs: readonly string[];
  /** Folders that calls put in place and that hold too much to be looked through. */
  readonly folders: readonly string[];
  readonly scripts: readonly ProjectScript[];
}

/** A command line in a file of the project, such as a script of package.json. */
export interface ProjectScript {
  /** The file that it is in. */
  readonly path: string;
  readonly text: string;
}

export const NOTHING_UNAGREED: UnagreedTexts = { files: [], programs: [], folders: [], scripts: [] };
