import type { ProbeEvent } from "@lanthorn/contract/uplink";
import type { VendorLookup } from "@lanthorn/fingerprints";
import { openReplay } from "@lanthorn/packet-io";
import type { Log } from "@lanthorn/runtime";
import Database from "better-sqlite3";
import { createReplayClock } from "../bus/bus-clock.ts";
import { createFrameBus } from "../bus/frame-bus.ts";
import { createReplayWatch } from "../capture/replay-watch.ts";
import type { GuardSettings } from "../detect/settings.ts";
import type { IntrusionSettings } from "../intrusions/settings.ts";
import type { TrafficSettings } from "../traffic/settings.ts";
import { createBusModules, NO_WAYS_OUT, policyOf } from "./parts/bus-modules.ts";
import { replayDns } from "./replay-dns.ts";
import { NO_TIME, NOT_RANDOM, SETTLE_MS } from "./replay-world.ts";

/** What a replay has read. */
export interface ReplayResult {
  readonly frames: number;
  /** Why the file was not read to its end; null where it was. */
  readonly problem: string | null;
}

/**
 * Runs the modules of the frame bus over a capture file, on the file's own time and with no other state than its own: no collector, no
 * enrollment, no interface. The same file and settings give the same events. What is found in DNS comes behind all others, from a second reading.
 * @param deps.settings Its networks are those whose hosts are looked for.
 * @param deps.print Takes events as they are published.
 * @throws ProbeError `config-invalid` for a file that cannot be read, or settings that name no address or prefix.
 */
export async function replayFile(deps: {
  readonly path: string;
  readonly settings: Parameters<typeof policyOf>[0] & { readonly max_hosts: number; readonly guards: GuardSettings; readonly traffic: Pick<TrafficSettings, "dns">; readonly ids: Pick<IntrusionSettings, "home_networks"> };
  readonly vendorOf: VendorLookup["vendorOf"];
  readonly log: Log;
  readonly print: (events: readonly ProbeEvent[]) => void;
}): Promise<ReplayResult> {
  const { settings, log } = deps;
  const db = new Database(":memory:");
  const clock = createReplayClock(NO_TIME);
  let end: (problem: string | null) => void = () => {};
  const ended = new Promise<string | null>((resolve) => {
    end = resolve;
  });
  const lan = createReplayWatch({
    path: deps.path, networks: settings.networks, openReplay, clock: NO_TIME, onFrames: (batch) => bus.onFrames(batch), onEnd: end,
  });
  const modules = createBusModules({
    ...NO_WAYS_OUT, db, outbox: { append: deps.print }, clock, random: NOT_RANDOM, log, policy: policyOf(settings, true), interfaceName: "replay",
    interfaceFacts: () => lan.facts(), maxHosts: settings.max_hosts, unasked: "all", sender: lan.sender, vendorOf: deps.vendorOf, identify: null,
    guardSettings: settings.guards,
  });
  const bus = createFrameBus({ modules: modules.all, clock, log });
  bus.start();
  const problem = await ended;
  clock.advance(SETTLE_MS);
  bus.close();
  for (const module of modules.all.toReversed()) await module.close?.();
  await lan.close();
  const { frames } = lan.counters();
  db.close();
  await replayDns({ ...deps, settings: settings.traffic.dns, homeNetworks: settings.ids.home_networks });
  return { frames, problem };
}
