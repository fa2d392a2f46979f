import { toInstant } from "@lanthorn/runtime";
import type { AlertNotice } from "../messages.ts";
import type { RecordingAbout } from "../recording.ts";
import type { HeaderView } from "../ring/frame-headers.ts";
import { type BlockFacts, millisecondsOf } from "../ring/memory-ring.ts";
import type { EvidenceSettings } from "../settings.ts";
import type { FoundFrame } from "./find-frame.ts";
import { type AddressView, packetsInside } from "./inner-frames.ts";
import { createPartyTable, type PartyFilter } from "./party-filter.ts";

/** An alert with what is known of it. `now`: milliseconds since the epoch. */
export interface AlertPart {
  readonly alert: AlertNotice;
  readonly filter: PartyFilter;
  /** The frame that raised it; null where the ring has none of the device. */
  readonly found: FoundFrame | null;
  readonly now: number;
}

/** Which frames one file is about. */
export interface Selection {
  /** Milliseconds since the epoch: the first frame that may be wanted, and the last one as far as is known now. */
  readonly startMs: number;
  endMs(): number;
  about(): RecordingAbout;
  /** Whether the alert is one of its own, or of a device that it is about. */
  isAbout(alert: AlertNotice): boolean;
  mayJoin(part: AlertPart): boolean;
  /**
   * Takes an alert, or one of its own that was seen again.
   * @param written Up to where the ring is already written: block, frame, and time of the next frame.
   * @returns What is to be said of it in the file; "" for nothing.
   */
  add(part: AlertPart, written: FoundFrame): string;
  /** @returns False where no frame of that time is wanted. */
  mayWant(block: Pick<BlockFacts, "firstMs" | "lastMs">): boolean;
  /** @returns Null for a frame that is not wanted; else what it is marked with, "" for nothing. */
  commentOf(sequence: number, frame: HeaderView): string | null;
}

/** Everything is kept so long before and after the frame that raised an alert: a second in all. */
const CORE_MS = 500;
/** What one file is about; the contract takes 64 ids. */
const MAX_ALERTS = 32;
const MAX_ADDRESSES = 64;
/** Marks of frames that are not yet written. */
const MAX_MARKS = 128;
/** Alerts that one frame is marked with: its comment has room for a remark beside them. */
const MAX_NAMES = 8;

interface Rule {
  readonly alertId: string;
  readonly filter: PartyFilter;
  readonly fromMs: number;
  untilMs: number;
}

/** @param first The alert that the file is begun for; it is still to be added. */
export function createSelection(first: AlertPart, settings: EvidenceSettings): Selection {
  const rules: Rule[] = [];
  /** Devices of all rules: most packets are held against no rule. */
  const parties = createPartyTable();
  const cores: { readonly fromMs: number; readonly untilMs: number }[] = [];
  /** By block, then by frame. */
  const marks = new Map<number, Map<number, ReadonlySet<string>>>();
  const macs = new Set<string>();
  const ips = new Set<string>();
  const fromOf = ({ found, alert }: AlertPart) => (found?.at ?? alert.at) - settings.before_seconds * 1000;
  const startMs = fromOf(first);
  const capMs = startMs + settings.longest_seconds * 1000;
  const findOwn = (alertId: string) => rules.find((rule) => rule.alertId === alertId);
  const isKnown = ({ device }: AlertNotice) => device.macs.some((mac) => macs.has(mac)) || device.ips.some((ip) => ips.has(ip));

  function noteAddresses({ device, peer }: AlertNotice): void {
    for (const party of [device, ...(peer ? [peer] : [])]) {
      for (const mac of party.macs) if (macs.size < MAX_ADDRESSES) macs.add(mac);
      for (const ip of party.ips) if (ips.size < MAX_ADDRESSES) ips.add(ip);
    }
  }

  /** One frame may have raised several alerts. @returns False where there are too many. */
  function putMark({ sequence, index }: FoundFrame, name: string): boolean {
    const inBlock = marks.get(sequence) ?? new Map<number, ReadonlySet<string>>();
    const names = new Set(inBlock.get(index)).add(name);
    const hasRoom = (marks.has(sequence) || marks.size < MAX_MARKS) && (inBlock.has(index) || inBlock.size < MAX_MARKS) && names.size <= MAX_NAMES;
    if (hasRoom) marks.set(sequence, inBlock.set(index, names));
    return hasRoom;
  }

  /** @returns What is to be said of it. */
  function mark(found: FoundFrame | null, name: string, written: FoundFrame): string {
    if (!found) return `${name}: the frame that raised it is not in the memory ring. `;
    if (cores.length < MAX_MARKS) cores.push({ fromMs: found.at - CORE_MS, untilMs: found.at + CORE_MS });
    const isWritten = found.sequence < written.sequence || (found.sequence === written.sequence && found.index < written.index);
    return isWritten || !putMark(found, name) ? `${name} was raised by the frame of ${toInstant(found.at)}. ` : "";
  }

  function isOfRule(packet: AddressView, at: number): boolean {
    if (!parties.mayHave(packet)) return false;
    for (const { fromMs, untilMs, filter } of rules) if (at >= fromMs && at <= untilMs && filter(packet)) return true;
    return false;
  }

  noteAddresses(first.alert);
  return {
    startMs,
    endMs: () => Math.max(...rules.map(({ untilMs }) => untilMs)),
    about: () => ({ alertIds: [...new Set([first.alert.alert_id, ...rules.map(({ alertId }) => alertId)])], macs: [...macs], ips: [...ips] }),
    isAbout: (alert) => findOwn(alert.alert_id) !== undefined || isKnown(alert),
    mayJoin: ({ alert, now }) => now < capMs && (findOwn(alert.alert_id) !== undefined || rules.length < MAX_ALERTS),
    add(part, written) {
      const { alert, filter, found, now } = part;
      const name = `lanthorn alert ${alert.alert_id}`;
      const untilMs = Math.min(Math.max(now, alert.at) + settings.after_seconds * 1000, capMs);
      const own = findOwn(alert.alert_id);
      if (own) {
        own.untilMs = Math.max(own.untilMs, untilMs);
        return mark(found, name, written);
      }
      const isLate = !isKnown(alert) && fromOf(part) < written.at;
      noteAddresses(alert);
      parties.add(alert.device);
      rules.push({ alertId: alert.alert_id, filter, fromMs: fromOf(part), untilMs });
      return (isLate ? `${name}: frames of its device before ${toInstant(Math.floor(written.at))} are not in this file. ` : "") + mark(found, name, written);
    },
    // Times of a block whose frames are not in order say nothing.
    mayWant: (block) => block.firstMs > block.lastMs || rules.some((time) => isWithin(block, time)) || cores.some((time) => isWithin(block, time)),
    commentOf(sequence, frame) {
      const marked = marks.size > 0 ? marks.get(sequence)?.get(frame.index) : undefined;
      if (marked !== undefined) return [...marked].join("; ");
      const at = millisecondsOf(frame);
      for (const { fromMs, untilMs } of cores) if (at >= fromMs && at <= untilMs) return "";
      return isOfRule(frame, at) || packetsInside(frame).some((packet) => isOfRule(packet, at)) ? "" : null;
    },
  };
}

/** Whether a block has frames of a time. */
function isWithin({ firstMs, lastMs }: Pick<BlockFacts, "firstMs" | "lastMs">, { fromMs, untilMs }: { readonly fromMs: number; readonly untilMs: number }): boolean {
  return lastMs >= fromMs && firstMs <= untilMs;
}
