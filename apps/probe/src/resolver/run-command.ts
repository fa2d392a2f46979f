import { createLog, stopSignal, systemClock } from "@lanthorn/runtime";
import { runResolver } from "./run-resolver.ts";
import { readResolverSettings } from "./settings.ts";

/** Answers until it is stopped, and ends the process. @param given.file Null for the usual place. @throws As `runResolver` and `readResolverSettings`. */
export async function runResolverCommand(given: { readonly file: string | null; readonly onlyCheck: boolean }): Promise<void> {
  const settings = readResolverSettings(given.file);
  if (given.onlyCheck) return void process.stdout.write("the configuration is valid\n");
  await runResolver({
    settings, environment: process.env, clock: systemClock, log: createLog({ name: "lanthorn-dns", level: settings.log_level }), stop: stopSignal(),
    onReady: (listeners) => process.stdout.write(`ready ${JSON.stringify({ listeners })}\n`),
  });
  process.exit(0);
}
