import type { DatabaseTools } from "../database-tools.ts";

/** The database that a restored one takes the place of. */
export interface RestoreTarget {
  /** What is there already, by its name; null for nothing. */
  readonly present: string | null;
  /** Beside what is replaced, if that is a file: only within a file system is a move one step. Null for one of a server's. */
  readonly folder: string | null;
  readonly databaseFile: string | null;
  readonly tools: Pick<DatabaseTools, "engine" | "check">;
  /**
   * Makes what was checked fit to be used.
   * @param options.keepsSecrets False where the key is missing that opens what it keeps sealed of the deployment's own: it goes, and is
   * made anew.
   */
  prepare(copy: string, options: { readonly keepsSecrets: boolean }): Promise<void>;
  /** Puts it in place, all or nothing, if it is no file. @returns Where what was there before is now, or null. */
  swap(stamp: string): Promise<string | null>;
  /** Leaves nothing behind of what was not put in place. */
  close(): Promise<void>;
}
