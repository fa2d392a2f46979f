import { rmSync } from "node:fs";
import { createLog, createServiceManager, describeError, stopSignal, systemClock } from "@lanthorn/runtime";
import { keepHeapSmall } from "../../small-heap.ts";
import type { DecoyCommand } from "../run-command.ts";
import { readDecoysSettings } from "../settings.ts";
import { ownAddressesFile, writeOwnAddresses } from "./address-state.ts";
import { type KeptAddresses, keepAddresses } from "./keep-addresses.ts";
import { ownDecoys } from "./own-decoys.ts";

/** Where the seed of MAC addresses is, unless `STATE_DIRECTORY` of the unit names another folder. @see systemd.exec(5) */
const DATA_DIR = "/var/lib/lanthorn-decoy-addresses";

/** Takes the decoys' own addresses until it is stopped, and ends the process; at once where there is none. @throws As `readDecoysSettings`. */
export async function runDecoyAddressesCommand({ file, onlyCheck, environment }: DecoyCommand): Promise<void> {
  const settings = readDecoysSettings(file);
  if (onlyCheck) return void process.stdout.write("the configuration is valid\n");
  const decoys = ownDecoys(settings.decoys, environment["STATE_DIRECTORY"] ?? DATA_DIR);
  const log = createLog({ name: "lanthorn-decoy-addresses", level: settings.log_level });
  const manager = createServiceManager({ environment, clock: systemClock, log, alive: () => true });
  if (decoys.length === 0) {
    // The service manager takes an end before this for a failure.
    manager.ready("no decoy has an address of its own");
    await manager.stopping();
    return process.exit(0);
  }
  keepHeapSmall(systemClock);
  const directory = settings.addresses_directory;
  const write = (kept: KeptAddresses) => {
    try {
      writeOwnAddresses(directory, kept.now());
    } catch (error) {
      log.error({ reason: describeError(error) }, "cannot write down how the decoys' own addresses are");
    }
  };
  // Before links are made: what is made must be taken away, however soon it ends.
  const stopped = stopSignal();
  let kept: KeptAddresses | null = null;
  kept = keepAddresses(decoys, { onChange: () => kept && write(kept), random: Math.random, clock: systemClock, log });
  write(kept);
  manager.ready(`takes ${decoys.length} addresses`);
  process.stdout.write(`ready ${JSON.stringify({ addresses: kept.now() })}\n`);
  await stopped;
  await manager.stopping();
  await kept.close();
  rmSync(ownAddressesFile(directory), { force: true });
  process.exit(0);
}
