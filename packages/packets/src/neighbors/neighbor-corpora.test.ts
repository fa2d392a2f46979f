import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { readCapture } from "../capture-file/capture-file.ts";
import { decodeCdp } from "./cdp.ts";
import { cdpChecksum } from "./cdp-tlvs.ts";
import { decodeEdp } from "./edp.ts";
import { decodeFrame } from "../frame.ts";
import { decodeLldp } from "./lldp.ts";
import { decodeSonmp } from "./sonmp.ts";
import { expectResults } from "../testing/expect-results.ts";
import { snapPayload } from "../testing/snap-payload.ts";

/** Seeds of lldpd's fuzzers, and captures of others; they lie beside the repository and are no part of it. */
const FOLDER = fileURLToPath(new URL("../../../../../shared/data/captures/", import.meta.url));
const isHere = existsSync(join(FOLDER, "lldpd"));
if (!isHere) console.warn(`SKIPPED: lldpd's fuzzing seeds: there are none in ${FOLDER}`);

function seedsOf(protocol: string): readonly Uint8Array[] {
  const folder = join(FOLDER, "lldpd", `fuzz_${protocol}_seed_corpus`);
  return readdirSync(folder).toSorted().map((name) => new Uint8Array(readFileSync(join(folder, name))));
}

function lldpPdu(frame: Uint8Array): Uint8Array {
  const result = decodeFrame(frame);
  if (!result.ok) throw new Error(result.code);
  return result.value.networkBytes;
}

describe.skipIf(!isHere)("lldpd's seeds", () => {
  test.each([
    ["lldp", decodeLldp, lldpPdu], ["cdp", decodeCdp, snapPayload], ["edp", decodeEdp, snapPayload], ["sonmp", decodeSonmp, snapPayload],
  ] as const)("of %s are decoded, and so are their truncations and mutations without a throw", (
    protocol, decode, payloadOf,
  ) => {
    for (const [index, frame] of seedsOf(protocol).entries()) {
      const pdu = payloadOf(frame);
      expect(decode(pdu), `${protocol}.${index}`).toMatchObject({ ok: true });
      expectResults(decode, pdu, { seed: index + 1, shortest: 0 });
    }
  });

  test("tell names, ports and addresses", () => {
    const cdp = seedsOf("cdp").map((frame) => decodeCdp(snapPayload(frame)));
    const texts = cdp.map(
      (result) => (result.ok ? result.value.items.flatMap((item) => ("text" in item && item.kind !== "version" ? [item.text] : [])) : []),
    );
    expect(texts).toEqual([
      ["First chassis", "FastEthernet 1/5", "Linux"], ["Second chassis", "Gigabit Ethernet 5/8", "Linux"],
      ["R1", "Ethernet0", "cisco 1601"], ["rtbg6test01", "cisco 7206VXR", "FastEthernet0/0"],
    ]);
    const edp = seedsOf("edp").map((frame) => decodeEdp(snapPayload(frame)));
    const vlans = edp.map(
      (result) => (result.ok ? result.value.items.flatMap((item) => (item.kind === "vlan" ? [`${item.vlanId} ${item.name}`] : [])) : []),
    );
    expect(vlans).toEqual([
      [], [], ["157 First VLAN", "1247 Second VLAN", "741 Third VLAN"], [], ["1 Default", "0 MacVlanDiscover", "50 AdminB2"],
    ]);
    const sonmp = seedsOf("sonmp").map((frame) => decodeSonmp(snapPayload(frame)));
    expect(sonmp.map((result) => result.ok && [...result.value.address, ...result.value.segment])).toEqual([
      [172, 17, 142, 37, 0, 0, 4], [172, 17, 142, 37, 0, 0, 4], [172, 16, 101, 168, 0, 2, 8],
    ]);
  });

  test("have right checksums, but for the one that was made anonymous", () => {
    expect(seedsOf("cdp").map((frame) => cdpChecksum(snapPayload(frame)) === 0)).toEqual([true, true, false, true]);
  });
});

describe.skipIf(!isHere)("captures of LLDP switches", () => {
  test("every frame of an ordinary one is a whole PDU, 802.3bt's power included", () => {
    const items = ["8023bt", "connectx", "sg200", "med-loc-malformed"].map((name) => {
      const [record] = readCapture(readFileSync(join(FOLDER, "lldpd", `${name}.pcap`))).records;
      const result = decodeLldp(lldpPdu(record?.bytes ?? new Uint8Array(0)));
      return result.ok ? result.value.items : [];
    });
    expect(items.map(({ length }) => length)).toEqual([9, 1, 10, 9]);
    expect(items[0]?.find(({ kind }) => kind === "power")).toMatchObject({
      support: 15, powerClass: 5, allocation: { requested: 710, allocated: 510 }, dualSignature: { maximumAvailable: 510 },
    });
  });
});
