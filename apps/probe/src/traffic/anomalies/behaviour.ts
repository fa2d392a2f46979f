/** Behavior of the site's devices, learned from flows and DNS on packet time, and kept over restarts. */
import { join } from "node:path";
import { type Accepted, type Anomaly, type BehaviourWatch, createBehaviourWatch } from "@lanthorn/anomaly";
import { ANOMALY_KINDS, type AnomaliesPart, type CommandData } from "@lanthorn/contract/uplink";
import { formatIp } from "@lanthorn/packets";
import { type Clock, describeError, type Log } from "@lanthorn/runtime";
import type { FlowKey, FlowRecord, TrafficMessage } from "@lanthorn/traffic";
import { isLinkName } from "../dns/link-names.ts";
import type { CommandAnswer, FoundAnomaly, ProcessCounters } from "../messages.ts";
import { toAnomalyData } from "./anomaly-data.ts";
import { listLearned, toLearnedBehaviour } from "./learned-behaviour.ts";
import { createCountries } from "./countries.ts";
import { createFlowRate } from "./flow-rate.ts";
import { observeBroadcast, observeFlow } from "./observe-flow.ts";
import type { AnomalySettings } from "./settings.ts";
import { createSiteDevices } from "./site-devices.ts";
import { readStateFile, setStateFileAside, writeStateFile } from "./state-file.ts";

/** What learns. Times are packet time, in seconds. */
export interface SiteBehaviour {
  onFlow(record: FlowRecord, at: number): void;
  onMessage(flow: FlowKey, message: TrafficMessage): void;
  /** Packet time has come so far. */
  advance(at: number): void;
  /** So many frames were seen. */
  seen(frames: number): void;
  /** So many frames were lost; 0 where nobody knows how many: the hour is then neither compared nor learned. */
  missed(frames: number): void;
  /** Some times a second: goes on with what is to be compared and saved. */
  tick(): void;
  /** Another table of countries may be installed. */
  loadCountries(): void;
  configure(part: AnomaliesPart | undefined): void;
  /** Commands of the collector. What they change is saved with the next turn. */
  read(data: CommandData<"behaviour_read">): CommandAnswer;
  list(data: CommandData<"behaviour_list">): CommandAnswer;
  freeze(data: CommandData<"behaviour_freeze">): CommandAnswer;
  reset(data: CommandData<"behaviour_reset">): CommandAnswer;
  /** Null while it is turned off. */
  counters(): ProcessCounters["anomaly"];
  /** Saves what was learned. */
  close(): Promise<void>;
}

/** Of a turn of the event loop. */
const WORK_MS = 4;
/** Beyond the day's budget of alerts; what is more is only counted. */
const MAX_SAID_AN_HOUR = 32;
/** NXDOMAIN, RFC 1035 section 4.1.1. */
const NO_SUCH_NAME = 3;

const REFUSED: CommandAnswer = { refused: "the probe does not watch the behavior of devices: set enabled = true under [traffic.anomalies] in its configuration file, and start it again", reason: "not-configured" };

/** Learns nothing. */
export const NO_BEHAVIOUR: SiteBehaviour = {
  onFlow: () => undefined, onMessage: () => undefined, advance: () => undefined, seen: () => undefined, missed: () => undefined, tick: () => undefined, loadCountries: () => undefined, configure: () => undefined, counters: () => undefined,
  read: () => REFUSED, list: () => REFUSED, freeze: () => REFUSED, reset: () => REFUSED,
  close: () => Promise.resolve(),
};

/**
 * Opens what was learned before.
 * @param deps.say Takes an anomaly. @returns False where the daemon does not read: it is left out.
 * @param deps.isInside Whether an address is one of the site's.
 */
export async function openBehaviour(deps: {
  readonly settings: AnomalySettings; readonly dataDir: string; readonly accepted: AnomaliesPart | undefined; readonly isInside: (ip: string) => boolean;
  readonly say: (at: number, data: FoundAnomaly) => boolean; readonly clock: Pick<Clock, "now" | "monotonic">; readonly log: Pick<Log, "info" | "warn" | "error">;
}): Promise<SiteBehaviour> {
  const { settings, clock, log } = deps;
  if (!settings.enabled) return NO_BEHAVIOUR;
  const devices = createSiteDevices(deps.isInside);
  const sayer = createSayer((anomaly) => deps.say(anomaly.at * 1000, toAnomalyData(anomaly, devices)));
  const watch = createBehaviourWatch({ bounds: { maxDevices: settings.max_devices, maxPairs: settings.max_pairs, alertsADay: settings.alerts_a_day }, onAnomaly: sayer.say });
  const keeper = await openKeeper({ path: join(deps.dataDir, "anomalies", "state"), watch, log });
  const rate = createFlowRate();
  const countries = createCountries(deps);
  await countries.load();
  watch.accept(toAccepted(deps.accepted));

  /** Before the hour ends for what learns. */
  function noteSeconds(at: number): void {
    const { seen, missed } = rate.advance(at);
    if (seen + missed > 0) watch.noteSeen("flows", seen, missed);
  }

  return {
    onFlow(record, at) {
      noteSeconds(at);
      if (rate.take(at, devices.nameAt(record.originator_ip)) !== "taken") return;
      const flow = observeFlow(record, at, { devices, countries });
      if (flow) watch.flow(flow);
      const broadcast = flow ? null : observeBroadcast(record, at, devices);
      if (broadcast) watch.broadcast(broadcast);
    },
    onMessage(flow, message) {
      if (message.protocol !== "dns" || !message.message.isResponse) return;
      const [server, client] = message.side === 0 ? [flow.originator, flow.responder] : [flow.responder, flow.originator];
      const [question] = message.message.questions;
      const device = devices.nameAt(formatIp(client.ip));
      // Who is not known yet has its questions counted as soon as one of its flows is.
      if (!question || device === null || isLinkName(client.port, server.port)) return;
      watch.query({ at: message.at / 1e6, device, name: question.name, isMissing: message.message.responseCode === NO_SUCH_NAME });
    },
    advance(at) {
      noteSeconds(at);
      watch.advance(at);
    },
    seen: (frames) => watch.noteSeen("frames", frames, 0),
    missed: (frames) => (frames === 0 ? watch.distrustHour() : watch.noteSeen("frames", 0, frames)),
    tick() {
      const until = clock.monotonic() + WORK_MS;
      let isLeft = true;
      while (isLeft && clock.monotonic() < until) isLeft = watch.work();
      if (!isLeft) keeper.tick();
    },
    loadCountries: () => void countries.load(),
    configure: (part) => watch.accept(toAccepted(part)),
    ...commandsOf(watch, { clock, onChange: keeper.changed }),
    counters: () => ({ ...readCounters(watch, sayer.counts(), rate.leftOut()), countries: countries.ranges() }),
    async close() {
      while (watch.work());
      await countries.close();
      await keeper.close();
    },
  };
}

/** What the collector may read and change of what was learned. */
function commandsOf(watch: BehaviourWatch, { clock, onChange }: { readonly clock: Pick<Clock, "now">; readonly onChange: () => void }): Pick<SiteBehaviour, "read" | "list" | "freeze" | "reset"> {
  const each = (names: readonly string[], change: (device: string) => boolean) => names.filter(change).length;
  return {
    read({ devices }) {
      for (const name of devices) {
        const known = watch.describe(name);
        if (known) return { data: { behaviour: toLearnedBehaviour(known) } };
      }
      return { data: { behaviour: null } };
    },
    list: (wanted) => ({ data: listLearned(watch.states(), wanted) }),
    freeze({ devices, is_frozen: isFrozen }) {
      onChange();
      const names = devices ?? [...watch.states()].map(({ device }) => device);
      return { data: { devices: each(names, (device) => watch.freeze(device, isFrozen, clock.now() / 1000)) } };
    },
    reset({ devices }) {
      onChange();
      if (devices) return { data: { devices: each(devices, watch.reset) } };
      const count = watch.counts().devices;
      watch.resetAll();
      return { data: { devices: count } };
    },
  };
}

function toAccepted(part: AnomaliesPart | undefined): readonly Accepted[] {
  return (part?.accepted ?? []).flatMap(({ kind: text, device, group, until }): Accepted[] => {
    const kind = ANOMALY_KINDS.find((one) => one === text);
    const scope = device !== undefined ? { device } : group !== undefined ? { group } : null;
    return kind && scope ? [{ kind, scope, until: until === undefined ? null : Date.parse(until) / 1000 }] : [];
  });
}

/** Says what is found: all that raise an alert, and some of the others. */
function createSayer(send: (anomaly: Anomaly) => boolean) {
  let [found, heldBack, leftOut, at, ofHour] = [0, 0, 0, 0, 0];
  return {
    say(anomaly: Anomaly): void {
      if (anomaly.at !== at) [at, ofHour] = [anomaly.at, 0];
      ofHour += 1;
      if ((!anomaly.isWithinBudget && ofHour > MAX_SAID_AN_HOUR) || !send(anomaly)) leftOut += 1;
      else {
        found += 1;
        if (!anomaly.isWithinBudget) heldBack += 1;
      }
    },
    counts: () => ({ found, held_back: heldBack, left_out: leftOut }),
  };
}

/** Reads what was learned, and writes it after each hour that was compared. */
async function openKeeper({ path, watch, log }: { readonly path: string; readonly watch: BehaviourWatch; readonly log: Pick<Log, "info" | "warn" | "error"> }) {
  try {
    const found = await readStateFile(path, watch.restore);
    const { damaged, otherVersion } = watch.counts();
    if (found === "unread" && damaged === 0) {
      const aside = await setStateFileAside(path, "other-version");
      log.warn({ path: aside, entries: otherVersion }, "what was learned of the site's devices is of another version of this program: it was set aside, and is learned anew");
    } else if (found === "unread" || found === "damaged") {
      const aside = await setStateFileAside(path, "damaged");
      log.error({ path: aside, entries: damaged }, "what was learned of the site's devices is damaged: it was set aside, and what could not be read is learned anew");
    }
  } catch (error) {
    log.error({ path, reason: describeError(error) }, "what was learned of the site's devices cannot be read: it is learned anew");
  }
  let [savedHours, isChanged] = [0, false];
  let saving: Promise<void> | null = null;
  const save = async () => {
    const hours = watch.counts().comparedHours;
    isChanged = false;
    try {
      await writeStateFile(path, watch.save());
    } catch (error) {
      log.error({ path, reason: describeError(error) }, "what was learned of the site's devices cannot be saved; it is tried again after the next hour");
    }
    savedHours = hours;
    saving = null;
  };
  const isDue = () => saving === null && (isChanged || watch.counts().comparedHours > savedHours);
  return {
    /** Somebody changed what was learned: it is saved before the hour is over. */
    changed(): void {
      isChanged = true;
    },
    tick(): void {
      if (isDue()) saving = save();
    },
    async close(): Promise<void> {
      await saving;
      if (isDue()) await save();
    },
  };
}

function readCounters(watch: BehaviourWatch, said: { readonly found: number; readonly held_back: number; readonly left_out: number }, flowsLeftOut: number): NonNullable<ProcessCounters["anomaly"]> {
  const { evicted, clockSteps, damaged, otherVersion, suppressed, comparedHours, thinHours, distrustedHours, lifecycles } = watch.counts();
  return {
    ...lifecycles, ...said, evicted, clock_steps: clockSteps, damaged, other_version: otherVersion, suppressed,
    compared_hours: comparedHours, thin_hours: thinHours, distrusted_hours: distrustedHours, flows_left_out: flowsLeftOut,
  };
}
