import type { Device, Lifecycle } from "./device.ts";
import type { Groups } from "../groups.ts";

/** A week; a device that is like others, of which enough is known, a day. */
const LEARNING_HOURS = 7 * 24;
/** See `LEARNING_HOURS`. */
export const LEARNING_HOURS_IN_GROUP = 24;
/** What goes on for so long is a change that will stay. */
const DRIFTED_SECONDS = 3 * 86_400;
const DRIFT_SECONDS = 2 * 86_400;

/** Whether enough is known of a device to compare it. */
export function isKnownWell(device: Pick<Device, "hours" | "group">, groups: Pick<Groups, "isKnown">): boolean {
  return device.hours >= (groups.isKnown(device.group) ? LEARNING_HOURS_IN_GROUP : LEARNING_HOURS);
}

/** Moves a device on in its life. @param at Seconds of packet time. */
export function moveTo(device: Device, lifecycle: Lifecycle, at: number): void {
  device.lifecycle = lifecycle;
  device.lifecycleSince = at;
}

/** From learning to active, and to and from drifted, as time and what is known say. */
export function moveOn(device: Device, groups: Pick<Groups, "isKnown">, at: number): void {
  if (device.lifecycle === "learning") {
    if (isKnownWell(device, groups)) moveTo(device, "active", at);
  } else if (device.lifecycle === "active" && device.openSince > 0 && at - device.openSince >= DRIFTED_SECONDS) {
    moveTo(device, "drifted", at);
    device.driftUntil = at + DRIFT_SECONDS;
    device.openSince = 0;
  } else if (device.lifecycle === "drifted" && at >= device.driftUntil) moveTo(device, "active", at);
}

/** Freezes a device, or lets it learn again. */
export function setFrozen(device: Device, isFrozen: boolean, { groups, at }: { readonly groups: Pick<Groups, "isKnown">; readonly at: number }): void {
  if (isFrozen === (device.lifecycle === "frozen")) return;
  moveTo(device, isFrozen ? "frozen" : isKnownWell(device, groups) ? "active" : "learning", at);
}

/**
 * The clock was set, or nobody looked: what goes on does so for no longer than it was watched, and what is learned anew is so for as long.
 * @param by Seconds; less than 0 where it was set back.
 */
export function shiftOpen(device: Device, by: number): void {
  // 0 is for nothing, and a clock may begin at 1970.
  if (device.openSince > 0) device.openSince = Math.max(1, device.openSince + by);
  if (device.lifecycle === "drifted") device.driftUntil += by;
}

/** A clock that was set back must not leave a device in a time that is yet to come. @param at What time it is. */
export function fitToClock(device: Device, at: number): void {
  for (const time of ["firstAt", "lifecycleSince", "openSince"] as const) device[time] = Math.min(device[time], at);
  device.driftUntil = Math.min(device.driftUntil, at + DRIFT_SECONDS);
}
