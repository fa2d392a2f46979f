import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { readNeighbor } from "@lanthorn/fingerprints";
import { readCapture } from "@lanthorn/packets";
import { expect, test } from "vitest";
import { toBusFrame } from "../bus/frame-bus.ts";
import { readAdvert } from "./read-advert.ts";

const FOLDER = fileURLToPath(new URL("../../../../../shared/data/captures/", import.meta.url));

/** What the capture's neighbors say that they are. */
function saidIn(name: string): readonly string[] {
  const claims = readCapture(readFileSync(`${FOLDER}${name}`)).records.flatMap(({ bytes }) => {
    const advert = readAdvert(toBusFrame({ bytes, wireLength: bytes.length, atMicroseconds: 0 }));
    if (!advert) return [];
    const { capabilities, system_description: systemDescription, platform = "" } = advert.facts;
    return readNeighbor({ protocol: advert.protocol, capabilities, systemDescription, platform });
  });
  return [...new Set(claims.map(({ field, value }) => `${field}: ${value}`))].toSorted();
}

test.skipIf(!existsSync(FOLDER)).each([
  ["tcpdump/3560_CDP.pcap", ["device_type: switch", "model: WS-C3560G-24PS", "os: Cisco IOS", "os_version: 12.2(25)SEB4", "vendor: Cisco"]],
  ["tcpdump/LLDP_and_CDP.pcap", [
    "device_type: switch", "model: WS-C3560-24TS", "model: WS-C3560G-24PS", "os: Cisco IOS", "os_version: 12.2(44)SE", "vendor: Cisco",
  ]],
])("the neighbors of %s are known by what they advertise", (name, expected) => {
  expect(saidIn(name)).toEqual(expected);
});
