import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

/** A program of the machine's own, and what it is run with. */
export interface Program {
  /** Absolute. */
  readonly path: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** Finds programs as a shell does. Asks the disk each time: what is missing may be installed while the daemon runs. */
export type FindProgram = (name: string) => Program | null;

/** What other programs need of ours; secrets of the environment stay here. */
const PASSED_ON = ["PATH", "LD_LIBRARY_PATH", "NMAPDIR"] as const;

/** @param environment Of the process: its `PATH` is what is searched. */
export function createProgramFinder(environment: Readonly<Record<string, string | undefined>>): FindProgram {
  const passed = Object.fromEntries(PASSED_ON.flatMap((name) => (environment[name] === undefined ? [] : [[name, environment[name]]])));
  return (name) => {
    const folders = (environment["PATH"] ?? "").split(delimiter).filter((folder) => isAbsolute(folder));
    const path = folders.map((folder) => join(folder, name)).find(isProgram);
    return path === undefined ? null : { path, environment: { ...passed, LANG: "C" } };
  };
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
