/** Days of a small site in minutes: frames whose times are those of the days that they stand for. */
import type { BlockFrame } from "@lanthorn/packet-io";
import { at, udpFrame } from "./frames.ts";

/** A Monday, 00:00 UTC, in seconds. */
export const BEGIN = 1_767_571_200;
const DAY = 86_400;
const STEP = 300;
const GATEWAY = "02:00:00:00:00:fe";

/** A device of the site. */
export interface Host {
  readonly mac: string;
  readonly ip: string;
}

/** A device that is at work by day. */
export const LAPTOP: Host = { mac: "02:00:00:00:00:07", ip: "10.0.0.7" };

/** A conversation by UDP with a host that answers, or is silent. The gateway's MAC address is behind addresses outside. */
export function conversation(seconds: number, host: Host, to: { readonly ip: string; readonly mac?: string; readonly port: number }, isAnswered = true): readonly BlockFrame[] {
  const peer = { ip: to.ip, mac: to.mac ?? GATEWAY };
  // Another port for each: what is asked again within a minute is another conversation.
  const port = 20_000 + (seconds % 30_000);
  const asked = at(seconds * 1000, udpFrame(host, peer, "?".repeat(200), { from: port, to: to.port }));
  return isAnswered ? [asked, at(seconds * 1000 + 20, udpFrame(peer, host, "!".repeat(900), { from: to.port, to: port }))] : [asked];
}

/** What devices do on ordinary days, five minutes in each piece. Days may be parts of days. @param begin 00:00 UTC of the first day, in seconds. */
export function* ordinaryDays(hosts: readonly Host[], days: { readonly from: number; readonly to: number }, begin = BEGIN): Generator<readonly BlockFrame[]> {
  const [from, to] = [begin + STEP * Math.round((days.from * DAY) / STEP), begin + days.to * DAY - 1];
  for (let seconds = from; seconds < to; seconds += STEP) {
    const hour = (seconds % DAY) / 3600;
    const isWork = hour >= 8 && hour < 17;
    yield hosts.flatMap((host, index) => (isWork || seconds % 3600 === 0
      ? conversation(seconds + index, host, { ip: `203.0.113.${(seconds / STEP) % 7}`, port: 443 })
      : conversation(seconds + index, host, { ip: "203.0.113.1", port: 123 })));
  }
}

/** A device asks every address of its subnet, most of which nobody has. */
export function scan(seconds: number, host: Host): readonly BlockFrame[] {
  return Array.from({ length: 200 }, (_, index) => conversation(seconds + index, host, { ip: `10.0.0.${20 + index}`, mac: "02:00:00:00:01:00", port: 161 }, index % 20 === 0)).flat();
}
