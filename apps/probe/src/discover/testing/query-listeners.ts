/** Asks for multicast listeners on `lan0`, and prints as one line of JSON whose frames then show a host. Started by `real-lan.ts`. */
import { openCapture, openInjector, readInterface } from "@lanthorn/packet-io";
import { formatIp, formatMac } from "@lanthorn/packets";
import { systemClock } from "@lanthorn/runtime";
import { toBusFrame } from "../../bus/frame-bus.ts";
import { macBytes } from "../../hosts/host.ts";
import { createLink, type Link } from "../../capture/link.ts";
import { observeFrame } from "../../observe/observe-frame.ts";
import { encodeListenerQueries } from "../../egress/request-frames.ts";

const LISTEN_MS = 3000;

const link = createLink(await readInterface("lan0")) as Link;
const seen = new Set<string>();
const observer = {
  seen: (mac: number, address: Uint8Array | null) => void seen.add(`${formatMac(macBytes(mac))} ${address ? formatIp(address) : "-"}`),
  expectation: () => undefined, name: () => undefined, facts: () => undefined, listenerQuery: () => undefined,
};
const capture = openCapture({
  interface: "lan0", filter: "icmp6 or ether multicast", snapLength: 2048, promiscuous: false, clock: systemClock,
  onFrames: (batch) => {
    for (const frame of batch) observeFrame(toBusFrame(frame), link, observer);
  },
  onLost(reason) {
    throw reason;
  },
});
const injector = openInjector({ interface: "lan0", clock: systemClock });
await injector.send(encodeListenerQueries(link));
systemClock.after(LISTEN_MS, () => {
  process.stdout.write(`${JSON.stringify([...seen])}\n`);
  void capture.close();
  injector.close();
});
