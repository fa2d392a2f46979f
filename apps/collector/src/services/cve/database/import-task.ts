import type { ProcessTask } from "../../../jobs/process.ts";
import { clearLeftovers } from "./files.ts";
import { importFeeds } from "./import.ts";
import { CveImport, CveImportProgress, CveImportResult } from "./import-types.ts";

/** `importFeeds` in a process of its own: it takes a processor for half a minute. */
export const cveImportTask: ProcessTask<CveImport, CveImportResult, CveImportProgress> = {
  command: "cve-import-job", input: CveImport, result: CveImportResult, progress: CveImportProgress, codes: ["cve-import-failed"],
  run: (input, _, report) => importFeeds(input, report),
  clear: ({ directory }) => clearLeftovers(directory),
};
