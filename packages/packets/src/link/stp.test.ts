import { describe, expect, test } from "vitest";
import { decodeFrame } from "../frame.ts";
import { fromHex } from "../testing/bytes.ts";
import { expectResults } from "../testing/expect-results.ts";
import { snapPayload } from "../testing/snap-payload.ts";
import { decodeLlc } from "./llc.ts";
import { decodeStp, encodeStp } from "./stp.ts";

/** What a Catalyst 3560 sends as an RSTP bridge and root. */
const RSTP_FRAME = fromHex("0180c2000000001906eab88c0027424203000002020e8001001906eab880000000008001001906eab880800c0000140002000f000000000000000000");
/** The first 64 bytes of a region's part and no instance, in VLAN 8 of a trunk. */
const MSTP_PDU = fromHex(`
  0000 03 02 38 0000001f27b47d80 00030d40 8000001646b58c80 8012 0100 1400 0200 0f00 00 0040
  00 4272657765727900000000000000000000000000000000000000000000000000 0000 9357ebb7a8d74dd5fef4f2bab50531aa
  00030d40 8000001ef705a880 14
`);
/** A BPDU of VLAN 20, as a Catalyst sends it for each. */
const PVST_FRAME = fromHex(`
  01000ccccccd 001906eab88c 0032 aaaa03 00000c 010b
  0000 00 00 00 8014001906eab880 00000000 8014001906eab880 800c 0000 1400 0200 0f00 00 0000 0002 0014
`);

function bpdu(frame: Uint8Array): Uint8Array {
  const decoded = decodeFrame(frame);
  const llc = decoded.ok ? decodeLlc(decoded.value.networkBytes) : null;
  if (!llc?.ok) throw new Error("there is no LLC in this frame");
  return llc.value.payload;
}
const ROOT = { priority: 0x8000, systemId: 1, mac: fromHex("001906eab880") };

describe("a BPDU", () => {
  test("of RSTP says who is root and how the tree is kept", () => {
    expect(decodeStp(bpdu(RSTP_FRAME))).toEqual({
      ok: true, value: {
        kind: "configuration", version: 2, flags: 0x0e, isTopologyChange: false, isTopologyChangeAcknowledged: false, root: ROOT, rootPathCost: 0,
        bridge: ROOT, portId: 0x800c, messageAge: 0, maxAge: 20, helloTime: 2, forwardDelay: 15, region: null, vlanId: null,
      },
    });
  });

  test("of MSTP names its region", () => {
    expect(decodeStp(MSTP_PDU)).toMatchObject({
      ok: true, value: {
        version: 3, root: { priority: 0, systemId: 0 }, rootPathCost: 200_000,
        region: { name: "Brewery", revision: 0, internalRootPathCost: 200_000, remainingHops: 20, bridge: { priority: 0x8000 } },
      },
    });
  });

  test("of Cisco's names its VLAN", () => {
    expect(decodeStp(snapPayload(PVST_FRAME))).toMatchObject({ ok: true, value: { version: 0, root: { priority: 0x8000, systemId: 20 }, vlanId: 20 } });
  });

  test("that says that the topology has changed has nothing else", () => {
    expect(decodeStp(fromHex("0000 00 80"))).toEqual({ ok: true, value: { kind: "topology-change-notification", version: 0, vlanId: null } });
  });

  test("of another protocol or type is none", () => {
    expect(decodeStp(fromHex("0001 00 80"))).toMatchObject({ ok: false, code: "bad-value", offset: 0 });
    expect(decodeStp(fromHex("0000 00 07"))).toMatchObject({ ok: false, code: "bad-value", offset: 3 });
  });

  test("comes back byte by byte", () => {
    for (const bytes of [bpdu(RSTP_FRAME), snapPayload(PVST_FRAME)]) {
      const pdu = decodeStp(bytes);
      if (!pdu.ok || pdu.value.kind !== "configuration") throw new Error("not read");
      const { vlanId, ...rest } = pdu.value;
      expect(encodeStp(vlanId === null ? rest : { ...rest, vlanId })).toEqual(bytes);
    }
  });

  test("with a field that does not fit has no encoding", () => {
    const fields = {
      version: 0, flags: 0, root: ROOT, rootPathCost: 0, bridge: ROOT, portId: 1, messageAge: 0, maxAge: 20, helloTime: 2, forwardDelay: 15,
    };
    expect(() => encodeStp({ ...fields, portId: 65_536 })).toThrow(expect.objectContaining({ code: "unencodable" }));
    expect(() => encodeStp({ ...fields, root: { ...ROOT, mac: new Uint8Array(5) } })).toThrow(expect.objectContaining({ code: "unencodable" }));
    expect(() => encodeStp({ ...fields, maxAge: 256 })).toThrow(expect.objectContaining({ code: "unencodable" }));
  });

  test.each([["RSTP", bpdu(RSTP_FRAME), 36], ["MSTP", MSTP_PDU, 36], ["PVST", snapPayload(PVST_FRAME), 35]] as const)(
    "of %s: every truncation and 20,000 mutations end in a result", (_, bytes, shortest) => {
      expect(expectResults(decodeStp, bytes, { seed: shortest, shortest })).toBeGreaterThan(500);
    });
});
