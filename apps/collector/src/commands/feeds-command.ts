import { basename, resolve } from "node:path";
import type { Clock } from "@lanthorn/runtime";
import type { Command } from "commander";
import type { Configuration } from "../configuration.ts";
import { prepareDataDir } from "../data-dir.ts";
import { CollectorError } from "../errors.ts";
import { inProcess, serveTask } from "../jobs/process.ts";
import { cveDirectory } from "../services/cve/database/files.ts";
import { cveImportTask } from "../services/cve/database/import-task.ts";
import { describeImport, describeProgress } from "../services/cve/database/describe.ts";
import type { CveImport } from "../services/cve/database/import-types.ts";
import { keepHeapSmall } from "../small-heap.ts";

interface Options {
  readonly config?: string;
  readonly json?: boolean;
  readonly acceptDrop?: boolean;
}

/** `feeds …`: data about vulnerabilities from files, for sites without the Internet. */
export function addFeedsCommands(program: Command, deps: {
  readonly configuration: (file: string | null) => Configuration;
  readonly clock: Clock;
  readonly print: (text: string) => void;
  /** For what is no result. */
  readonly remark: (text: string) => void;
  readonly program: readonly [string, ...string[]];
  readonly input: NodeJS.ReadableStream;
  readonly exit: (code: number) => void;
  readonly environment: Readonly<Record<string, string | undefined>>;
}): void {
  const feeds = program.command("feeds").description("downloaded data about vulnerabilities");
  feeds.command("import <files...>")
    .description("reads feed files into the CVE database, as they are or as .gz, .xz or .zip: NVD, CVE list, CISA KEV, EPSS, OSV, Debian's tracker, ATT&CK, CAPEC, CWE, mappings of CVEs to ATT&CK; the collector may run meanwhile")
    .option("--config <file>", "the collector's configuration")
    .option("--accept-drop", "also where the files withdraw many of the known CVEs or what they affect")
    .option("--json", "prints the result as JSON")
    .action(async (files: readonly string[], options: Options) => {
      const configuration = deps.configuration(options.config ?? null);
      prepareDataDir(configuration.data_dir);
      const input: CveImport = {
        directory: cveDirectory(configuration.data_dir), now: deps.clock.now(), acceptsDrop: options.acceptDrop === true,
        feeds: [...new Set(files.map((file) => resolve(file)))].map((path) =>
          ({ name: path, format: null, isWhole: true, files: [{ name: basename(path), path }] })),
      };
      let line = "";
      const result = await inProcess(deps.program, cveImportTask)(input, new AbortController().signal, (progress) => {
        const next = describeProgress(progress);
        if (options.json !== true && next !== line) deps.remark(next);
        line = next;
      });
      deps.print(options.json === true ? JSON.stringify(result) : describeImport(result));
      if (result.state === "refused") throw new CollectorError("cve-import-failed", `nothing was imported: ${result.error ?? "no feed could be used"}`);
      if (result.feeds.some(({ error }) => error !== null)) throw new CollectorError("cve-import-failed", "some files were not imported: see above");
    });
  program.command(cveImportTask.command, { hidden: true }).action(async () => {
    keepHeapSmall();
    deps.exit(await serveTask(cveImportTask, deps));
  });
}
