import { encodeFrameBlock } from "@lanthorn/packet-io";
import { encodeEthernet, encodeIpv4, ETHER_TYPE, parseIp, parseMac } from "@lanthorn/packets";
import { createId } from "@lanthorn/runtime";
import { expect, test, vi } from "vitest";
import type { Party } from "../messages.ts";
import { createFrameHeaders } from "../ring/frame-headers.ts";
import { TrafficSettings } from "../settings.ts";
import { udpFrame } from "../testing/frames.ts";
import { createPartyFilter } from "./party-filter.ts";
import { createSelection } from "./selection.ts";

const EVE = { mac: "02:00:00:00:00:66", ip: "10.0.0.66" };
const BOB = { mac: "02:00:00:00:00:01", ip: "10.0.0.1" };
const AT = 1_700_000_000_000;
const IP_IN_IP = 4;

/** A packet of Eve's inside of others'. */
function nested(depth: number): Uint8Array {
  let packet: Uint8Array = udpFrame(EVE, BOB).subarray(14);
  for (let n = 0; n < depth; n += 1) packet = encodeIpv4({ source: parseIp("192.0.2.1") as Uint8Array, destination: parseIp("192.0.2.2") as Uint8Array, protocol: IP_IN_IP, payload: packet });
  return encodeEthernet({ destination: parseMac("02:00:00:00:00:03") as Uint8Array, source: parseMac("02:00:00:00:00:04") as Uint8Array, etherType: ETHER_TYPE.ipv4, payload: packet });
}

/** One that has 32 alerts: the last one's device is given. */
function selectionOf(last: Party) {
  const parts = Array.from({ length: 32 }, (_, n) => {
    const device: Party = n === 31 ? last : { macs: [], ips: [`10.9.0.${n}`] };
    const alert = { alert_id: createId(), kind: "arp_spoofing" as const, at: AT, device, peer: null, packets: [] };
    return { alert, filter: createPartyFilter(device, null), found: null, now: AT };
  });
  const selection = createSelection(parts[0] as (typeof parts)[number], TrafficSettings.parse({}).evidence);
  for (const part of parts) selection.add(part, { sequence: 0, index: 0, at: AT });
  return selection;
}

/** @returns What the frame is marked with, and how often it was unwrapped. */
function look(frame: Uint8Array, last: Party) {
  const selection = selectionOf(last);
  const block = encodeFrameBlock([{ bytes: frame, seconds: AT / 1000, nanoseconds: 0 }]);
  let comment: string | null = null;
  let unwrapped = 0;
  createFrameHeaders().visit(block, 0, (view) => {
    const cuts = vi.spyOn(view.bytes, "subarray");
    comment = selection.commentOf(0, view);
    unwrapped = cuts.mock.calls.length;
    cuts.mockRestore();
    return true;
  });
  return { comment, unwrapped };
}

test.each([1, 4, 7])("a frame of %i tunnels is unwrapped once for all alerts", (depth) => {
  expect(look(nested(depth), { macs: [], ips: ["10.9.0.31"] })).toEqual({ comment: null, unwrapped: 1 });
  expect(look(nested(depth), { macs: [], ips: [EVE.ip] })).toEqual({ comment: "", unwrapped: 1 });
  expect(look(nested(depth), { macs: [], ips: ["192.0.2.1"] })).toEqual({ comment: "", unwrapped: 0 });
});

test("a frame that raised several alerts has the mark of each, and beyond some it is said where they are", () => {
  const selection = selectionOf({ macs: [], ips: [EVE.ip] });
  const alerts = Array.from({ length: 12 }, (_, n) => ({ alert_id: createId(), kind: "ids_alert", at: AT, device: { macs: [], ips: [`10.9.0.${n}`] }, peer: null, packets: [] }));
  const first = { alert: alerts[0] as (typeof alerts)[number], filter: () => false, found: { sequence: 3, index: 0, at: AT }, now: AT };
  const said = [first, ...alerts.slice(1).map((alert) => ({ ...first, alert }))].map((part) => selection.add(part, { sequence: 0, index: 0, at: AT }));
  createFrameHeaders().visit(encodeFrameBlock([{ bytes: udpFrame(EVE, BOB), seconds: AT / 1000, nanoseconds: 0 }]), 0, (view) => {
    expect(selection.commentOf(3, view)).toBe(alerts.slice(0, 8).map(({ alert_id: id }) => `lanthorn alert ${id}`).join("; "));
    return true;
  });
  for (const [n, { alert_id: id }] of alerts.entries()) expect(said[n]).toBe(n < 8 ? "" : `lanthorn alert ${id} was raised by the frame of ${new Date(AT).toISOString()}. `);
});
