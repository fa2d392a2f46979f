// The process of an export without the probe's other commands, which take seconds to load at the lowest priority. For tests only.
import { systemClock } from "@lanthorn/runtime";
import { runExportProcess } from "../export-process.ts";

await runExportProcess({ input: process.stdin, output: process.stdout, clock: systemClock });
process.exit(0);
