/**
 * Polls once behind a router from `lan0` of its own namespace, and prints what it saw as JSON. For tests only.
 * Arguments, as JSON: `{ own, gateway, first, count }` or `{ own, gateway, list }`, addresses as texts, and `framesPerSecond`.
 */
import { readFileSync } from "node:fs";
import { formatIp, parseIp, parseMac } from "@lanthorn/packets";
import { systemClock } from "@lanthorn/runtime";
import { addressesInList, addressesInRange } from "../../probing/routed-addresses.ts";
import { pollBehindRouter } from "../routed-poll.ts";
import { openScanLink } from "../../probing/scan-link.ts";

const request = JSON.parse(process.argv[2] ?? "") as {
  readonly own: string; readonly gateway: string; readonly framesPerSecond: number; readonly first?: string;
  readonly count?: number; readonly list?: readonly string[];
};
const bytes = (text: string) => parseIp(text) as Uint8Array;
let sent = 0;
const startedAt = performance.now();
const { answered, madeUp, isRouterThere } = await pollBehindRouter({
  addresses: request.list
    ? addressesInList(request.list.map(bytes))
    : addressesInRange({ first: bytes(request.first ?? ""), count: request.count ?? 0 }),
  openLink() {
    const link = openScanLink({ interface: "lan0", excluded: () => ({ holds: () => false, hasIpv6: false }), random: Math.random });
    return {
      ...link,
      close() {
        ({ sent } = link.sender.counters());
        link.close();
      },
    };
  },
  findWay: async () => ({ gateway: bytes(request.gateway), source: bytes(request.own), gatewayMac: null }),
  mac: parseMac(readFileSync("/sys/class/net/lan0/address", "latin1").trim()) as Uint8Array,
  own: [bytes(request.own)], framesPerSecond: request.framesPerSecond, clock: systemClock,
  random: Math.random, signal: new AbortController().signal,
});
process.stdout.write(`${JSON.stringify({
  answered: answered.map((address) => formatIp(address)), madeUp, isRouterThere, sent, seconds: (performance.now() - startedAt) / 1000,
})}\n`);
