import { createRecogDatabase } from "./database.ts";
import type { RecogFile } from "./read-database.ts";

/** How a file's own examples were answered. */
export interface ExampleReport {
  readonly fingerprints: number;
  readonly refused: readonly { readonly index: number; readonly pattern: string; readonly reason: string }[];
  readonly examples: number;
  readonly right: number;
  readonly wrong: readonly WrongAnswer[];
  /** Examples that are kept in files which are not there. */
  readonly missing: number;
}

/** An example that its file answers otherwise than the file itself says. */
export interface WrongAnswer {
  readonly matches: string;
  readonly description: string;
  readonly text: string;
  readonly reason: string;
}

/** Asks the database for each of its examples, and looks that everything is answered that the example names, as it says. */
export function checkRecogExamples(file: RecogFile): ExampleReport {
  const database = createRecogDatabase(file);
  const wrong: WrongAnswer[] = [];
  let examples = 0;
  let missing = 0;
  for (const fingerprint of file.fingerprints) {
    for (const { text, expected } of fingerprint.examples) {
      if (text === null) {
        missing += 1;
        continue;
      }
      examples += 1;
      const match = database.match(text);
      const parameters = match?.parameters ?? {};
      const differing = Object.entries(expected).find(([name, value]) => parameters[name] !== value);
      if (match && !differing) continue;
      const reason = differing
        ? `${differing[0]} is ${JSON.stringify(parameters[differing[0]] ?? null)}, not ${JSON.stringify(differing[1])}`
        : "nothing matches";
      wrong.push({ matches: file.matches, description: fingerprint.description, text, reason });
    }
  }
  return { fingerprints: database.size, refused: database.refused, examples, right: examples - wrong.length, wrong, missing };
}
