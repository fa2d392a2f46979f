import { openCapture, openInjector, readInterface } from "@lanthorn/packet-io";
import {
  ARP_OPERATION,
  decodeArp,
  decodeEthernet,
  encodeArp,
  encodeEthernet,
  equalBytes,
  ETHER_TYPE,
  parseIpv4,
  parseMac,
} from "@lanthorn/packets";
import { systemClock } from "@lanthorn/runtime";

/**
 * Answers ARP requests for the given addresses, late: a sleepy Wi-Fi device, for hosts whose kernel does not answer (arp_ignore = 8).
 * Run as: late-arp.ts INTERFACE DELAY_MS ADDRESS...
 */
const [interfaceName = "", delay = "", ...addresses] = process.argv.slice(2);
const own = addresses.map((address) => parseIpv4(address)).filter((address) => address !== null);
const facts = await readInterface(interfaceName);
const mac = parseMac(facts.mac ?? "");
if (mac === null || own.length === 0) throw new Error("run as: late-arp.ts INTERFACE DELAY_MS ADDRESS...");

const injector = openInjector({ interface: interfaceName, clock: systemClock });

/** @returns The reply to a frame that asks for one of our addresses, or null. */
function replyTo(frame: Uint8Array, mac: Uint8Array): Uint8Array | null {
  const ethernet = decodeEthernet(frame);
  if (!ethernet.ok || ethernet.value.etherType !== ETHER_TYPE.arp) return null;
  const arp = decodeArp(ethernet.value.payload);
  if (!arp.ok || arp.value.operation !== ARP_OPERATION.request) return null;
  const { senderHardwareAddress, senderProtocolAddress, targetProtocolAddress } = arp.value;
  if (!own.some((address) => equalBytes(address, targetProtocolAddress))) return null;
  const payload = encodeArp({
    operation: ARP_OPERATION.reply,
    senderHardwareAddress: mac,
    senderProtocolAddress: targetProtocolAddress,
    targetHardwareAddress: senderHardwareAddress,
    targetProtocolAddress: senderProtocolAddress,
  });
  return encodeEthernet({ destination: senderHardwareAddress, source: mac, etherType: ETHER_TYPE.arp, payload });
}

openCapture({
  interface: interfaceName,
  filter: "arp",
  snapLength: 64,
  promiscuous: false,
  clock: systemClock,
  onFrames(batch) {
    for (const { bytes } of batch) {
      const reply = replyTo(bytes, mac);
      if (reply) systemClock.after(Number(delay), () => void injector.send([reply]).catch((error: unknown) => console.error(error)));
    }
  },
  onLost(reason) {
    console.error(reason);
    process.exit(1);
  },
});
console.log(`answering for ${addresses.join(", ")} after ${delay} ms`);
