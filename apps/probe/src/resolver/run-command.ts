import { createLog, stopSignal, systemClock } from "@lanthorn/runtime";
import { keepHeapSmall } from "../small-heap.ts";
import { runResolver } from "./run-resolver.ts";
import { readResolverSettings } from "./settings.ts";

/** What the command line says, and the process's environment. */
export interface ResolverCommand {
  /** Null for the usual place. */
  readonly file: string | null;
  readonly onlyCheck: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** What queries leave behind is dead at once. */
const HEAP_GROWTH_PERCENT = 20;

/** Answers until it is stopped, and ends the process. @throws As `runResolver` and `readResolverSettings`. */
export async function runResolverCommand(given: ResolverCommand): Promise<void> {
  const settings = readResolverSettings(given.file);
  if (given.onlyCheck) return void process.stdout.write("the configuration is valid\n");
  keepHeapSmall(systemClock, { growthPercent: HEAP_GROWTH_PERCENT });
  await runResolver({
    settings, environment: given.environment, clock: systemClock, log: createLog({ name: "lanthorn-dns", level: settings.log_level }), stop: stopSignal(), onReload: (task) => process.on("SIGHUP", task),
    onReady: (listeners) => process.stdout.write(`ready ${JSON.stringify({ listeners })}\n`),
  });
  process.exit(0);
}
