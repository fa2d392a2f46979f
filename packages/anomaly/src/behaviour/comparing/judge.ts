import { type Device, learnSeen, profileToLearn } from "../devices/device.ts";
import type { DeviceTable } from "../devices/device-table.ts";
import { type Clue, cluesOf, surpriseOfNews, totalOf } from "./evidence.ts";
import { PLACE, RULES, scaleCounts } from "../features.ts";
import { type Groups, metByGroup } from "../groups.ts";
import { isKnownWell, LEARNING_HOURS_IN_GROUP, moveOn } from "../devices/lifecycle.ts";
import { learnHour } from "../profile.ts";
import type { HostUse } from "../sketches/host-use.ts";
import type { RegionUse } from "../sketches/region-use.ts";
import { SITE_KEY } from "../state.ts";
import { learnMet } from "../devices/usual.ts";

/** Evidence from here on is an alert. */
const ALERT_FROM = 5;
/** From here on an hour may be the beginning of something, and is not learned. What stays so adds up to an alert. */
const SUSPICIOUS_FROM = 2.5;
/** What is left of an hour's evidence in the next: several lesser hours make an alert too. */
const CARRIED_SHARE = 0.5;
/** So many hours without evidence end what went on. */
const QUIET_HOURS = 3;
const DRIFT_RATE = 0.5;
const HOURS_A_DAY = 24;
const HOUR_SECONDS = 3600;
/** One visit of a far place is curiosity, ten are not. */
const ONE_VISIT_LESS = 1;
const VISITS_WEIGHT = 1.3;
/** Devices that may do the same in one hour by chance. */
const COINCIDENCES = 2;

/** A device with an alert's worth of evidence in an hour. */
export interface Judged {
  readonly device: Device;
  readonly clues: readonly Clue[];
  readonly score: number;
}

/** Compares the closed hour of all devices, a device at each step, and gives those for which something unusual has begun. @param deps.devices Closes the hour of those that did nothing since. */
export function createHourJudge({ devices: { catchUp }, groups, regions, peers }: {
  readonly devices: Pick<DeviceTable, "catchUp">; readonly groups: Groups; readonly regions: Pick<RegionUse, "isCommon" | "areKnown">; readonly peers: HostUse;
}) {
  function newsOf(device: Device, at: number): Clue[] {
    const isNews = (region: string) => regions.areKnown(at) && !regions.isCommon(region);
    device.closed.news = device.closed.news.filter(({ kind, what }) => kind !== "region" || isNews(what));
    const group = groups.get(device.group);
    const days = device.hours / HOURS_A_DAY;
    return device.closed.news.map((news): Clue => {
      const isRegion = news.kind === "region";
      const met = surpriseOfNews(news.kind, { events: isRegion ? device.regionsMet : device.adminPeersMet, days }, metByGroup(group, news.kind));
      const surprise = Math.max(0, met + (isRegion ? VISITS_WEIGHT * Math.log(news.flows) - ONE_VISIT_LESS : 0));
      return { what: isRegion ? "new_region" : "new_admin_peer", family: news.kind, isOfHour: false, surprise, news };
    });
  }

  /** Those who are first to use a service of which others are the next did nothing unusual. */
  function forgiveFirst({ closed: { counts, sentTo, rarePeers } }: Device): void {
    const common = [...rarePeers].filter((peer) => peers.isCommon(peer)).reduce((sum, peer) => sum + (sentTo.get(peer) ?? 0), 0);
    counts[PLACE.bytes_to_rare] = Math.max(0, (counts[PLACE.bytes_to_rare] ?? 0) - common);
  }

  function cluesFor(device: Device, slot: number, at: number): readonly Clue[] {
    if (device.key !== SITE_KEY && device.hours > 0 && device.hours % HOURS_A_DAY === 0 && device.lifecycle !== "frozen") device.group = device.leading.group();
    moveOn(device, groups, at);
    forgiveFirst(device);
    const news = newsOf(device, at);
    // One that was frozen while it was learned is as little known as it was.
    const isKnown = device.lifecycle === "active" || (device.lifecycle === "frozen" && isKnownWell(device, groups));
    if (!isKnown || device.key === SITE_KEY) return [];
    return [...cluesOf(device, scaleCounts(device.closed.counts), slot, groups.get(device.group).profile), ...news];
  }

  return function* judge(devices: readonly Device[], slot: number, at: number): Generator<undefined, Judged[]> {
    const cluesOfDevices: (readonly Clue[])[] = [];
    const sharedBy = new Map<string, number>();
    for (const device of devices) {
      catchUp(device);
      const clues = cluesFor(device, slot, at);
      cluesOfDevices.push(clues);
      for (const { what } of clues) sharedBy.set(what, (sharedBy.get(what) ?? 0) + 1);
      yield;
    }
    const discount = (clue: Clue): Clue => {
      const isDiscounted = clue.what !== "new_region" && clue.what !== "new_admin_peer" && RULES[clue.what].isDiscounted;
      return isDiscounted ? { ...clue, surprise: clue.surprise / Math.max(1, (sharedBy.get(clue.what) ?? 0) - COINCIDENCES) } : clue;
    };
    const judged: Judged[] = [];
    for (const [index, device] of devices.entries()) {
      const clues = (cluesOfDevices[index] ?? []).map(discount);
      const score = totalOf(clues) + CARRIED_SHARE * device.carried;
      if (begins(device, score, at) && clues.length > 0) judged.push({ device, clues, score });
      yield;
    }
    return judged;
  };
}

/** Of the hour that ends. */
function beginOf(at: number): number {
  return at - HOUR_SECONDS;
}

/** Takes note of an hour's evidence. @returns Whether something unusual begins with it. */
function begins(device: Device, score: number, at: number): boolean {
  device.carried = score;
  if (score < ALERT_FROM) {
    device.quietHours += 1;
    if (device.quietHours >= QUIET_HOURS) device.openSince = 0;
    return false;
  }
  device.quietHours = 0;
  if (device.openSince > 0) return false;
  device.openSince = beginOf(at);
  return true;
}

/** Whether what a device meets becomes known: not while something unusual goes on, nor while it is frozen. */
export function isLearnable({ lifecycle, openSince }: Device): boolean {
  return lifecycle !== "frozen" && openSince === 0;
}

/** Learns an hour, unless something unusual goes on or the device is frozen. */
export function learnDeviceHour({ device, groups, slot, at }: { readonly device: Device; readonly groups: Groups; readonly slot: number; readonly at: number }): void {
  if (device.lifecycle === "frozen" || at <= device.firstAt) return;
  const met = { regions: countNews(device, "region"), adminPeers: countNews(device, "admin") };
  // What a new device meets in its first hours is all new, but who administers does so from the first.
  const isSettled = device.hours >= LEARNING_HOURS_IN_GROUP;
  // What goes on is news in each of its hours, and happened once.
  if (isLearnable(device) || device.openSince === beginOf(at)) {
    device.adminPeersMet += met.adminPeers;
    if (isSettled) device.regionsMet += met.regions;
    if (isSettled) groups.noteMet(device.group, met);
  }
  if (!isLearnable(device)) return;
  learnSeen(device);
  if (device.carried >= SUSPICIOUS_FROM) return;
  const scaled = scaleCounts(device.closed.counts);
  learnHour(profileToLearn(device), slot, scaled, device.lifecycle === "drifted" ? DRIFT_RATE : undefined);
  device.hours += 1;
  learnMet(device.usual, device.closed.met, device.hours % HOURS_A_DAY === 0);
  if (isSettled) groups.learn(device.group, slot, scaled);
}

function countNews(device: Device, kind: "region" | "admin"): number {
  return device.closed.news.filter((news) => news.kind === kind).length;
}
