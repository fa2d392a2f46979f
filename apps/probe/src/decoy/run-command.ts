import { networkInterfaces } from "node:os";
import { createLog, stopSignal, systemClock } from "@lanthorn/runtime";
import { keepHeapSmall } from "../small-heap.ts";
import { runDecoys } from "./run-decoys.ts";
import { readDecoysSettings } from "./settings.ts";

/** What the command line says, and the process's environment. */
export interface DecoyCommand {
  /** Null for the usual place. */
  readonly file: string | null;
  readonly onlyCheck: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Serves decoys until it is stopped, and ends the process. @throws As `runDecoys` and `readDecoysSettings`. */
export async function runDecoyCommand(given: DecoyCommand): Promise<void> {
  const settings = readDecoysSettings(given.file);
  if (given.onlyCheck) return void process.stdout.write("the configuration is valid\n");
  keepHeapSmall(systemClock);
  await runDecoys({
    settings, environment: given.environment, clock: systemClock, log: createLog({ name: "lanthorn-decoy", level: settings.log_level }), stop: stopSignal(),
    ownAddresses: createOwnAddresses(),
    onReady: (places) => process.stdout.write(`ready ${JSON.stringify({ places })}\n`),
  });
  process.exit(0);
}

const LOOK_MS = 30_000;

/** Addresses change with leases; to look at each connection would cost more than the connection. */
function createOwnAddresses(): () => readonly string[] {
  const look = () => Object.values(networkInterfaces()).flatMap((addresses) => addresses?.map(({ address }) => address) ?? []);
  let [known, atMs] = [look(), systemClock.monotonic()];
  return () => {
    if (systemClock.monotonic() - atMs > LOOK_MS) [known, atMs] = [look(), systemClock.monotonic()];
    return known;
  };
}
