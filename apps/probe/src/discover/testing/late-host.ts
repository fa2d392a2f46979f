/** Answers ARP requests for one address after a while, as a dozing phone does. Started by `real-lan.ts`: MAC, address, milliseconds. */
import { ARP_OPERATION, decodeArp, encodeArp, encodeEthernet, equalBytes, ETHER_TYPE, parseIpv4, parseMac } from "@lanthorn/packets";
import { openCapture, openInjector } from "@lanthorn/packet-io";
import { systemClock } from "@lanthorn/runtime";

const [, , macText = "", addressText = "", delayText = ""] = process.argv;
const mac = parseMac(macText) as Uint8Array;
const address = parseIpv4(addressText) as Uint8Array;
const injector = openInjector({ interface: "lan0", clock: systemClock });

openCapture({
  interface: "lan0",
  filter: "arp",
  snapLength: 128,
  promiscuous: false,
  clock: systemClock,
  onFrames(batch) {
    for (const { bytes } of batch) {
      const arp = decodeArp(bytes.subarray(14));
      if (!arp.ok || arp.value.operation !== ARP_OPERATION.request || !equalBytes(arp.value.targetProtocolAddress, address)) continue;
      const requester = arp.value.senderHardwareAddress.slice();
      const payload = encodeArp({
        operation: ARP_OPERATION.reply,
        senderHardwareAddress: mac,
        senderProtocolAddress: address,
        targetHardwareAddress: requester,
        targetProtocolAddress: arp.value.senderProtocolAddress.slice(),
      });
      const reply = encodeEthernet({ destination: requester, source: mac, etherType: ETHER_TYPE.arp, payload });
      systemClock.after(Number(delayText), () => void injector.send([reply]));
    }
  },
  onLost() {
    process.exit(0);
  },
});
process.stdout.write("ready\n");
