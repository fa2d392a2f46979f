import { describe, expect, test } from "vitest";
import { DCERPC_APPLICATION } from "../dcerpc/dcerpc.ts";
import { DCERPC_REFUSED, DCERPC_TCP, SMB2_IOCTL, SMB2_WRITE } from "../testing/smb-conversations.ts";
import { expectSafe, expectSameHoweverCut, play, type Turn } from "../testing/play-application.ts";
import { SMB_APPLICATION } from "./smb.ts";

/** Values are those that Suricata 7.0.10 has for the same conversations, where it has the keyword; `smb.version` is of 8.0. */

const INTERFACE = "4b324fc8-1670-01d3-1278-5a47bf6ee188";
const BOTH = (field: string, values: readonly (string | number)[]) => ({ [`${field} to-server`]: values, [`${field} to-client`]: values });

describe("SMB 2", () => {
  test.each([["by ioctl", SMB2_IOCTL], ["by writing and reading", SMB2_WRITE]] as const)("has logins, pipes, shares, and calls %s", (_, turns) => {
    const version = BOTH("smb.version", ["2"]);
    expect(play(SMB_APPLICATION, turns).transactions).toEqual([
      version,
      { ...version, "smb.ntlmssp_user to-server": ["Us\xe9r"], "smb.ntlmssp_domain to-server": ["DOM\xc4"] },
      { ...version, "smb.named_pipe to-server": ["\\\\srv\\IPC$"] },
      { ...version, "smb.share to-server": ["\\\\srv\\Data"] },
      version,
      { ...BOTH("dcerpc.interface", [INTERFACE]), ...BOTH("dcerpc.operation", ["15"]), "dcerpc.stub_data to-server": ["STUBreq"], "dcerpc.stub_data to-client": ["STUBresp"] },
    ]);
  });

  test("is the same however it is cut, and hostile bytes do no harm", () => {
    for (const turns of [SMB2_IOCTL, SMB2_WRITE]) {
      expectSameHoweverCut(SMB_APPLICATION, turns);
      expectSafe(SMB_APPLICATION, turns);
    }
  });
});

describe("DCE/RPC over TCP", () => {
  test("has the interface and operation of a call both ways; the stub of a response begins before the hint of its size", () => {
    expect(play(DCERPC_APPLICATION, DCERPC_TCP).transactions).toEqual([{
      ...BOTH("dcerpc.interface", [INTERFACE]), ...BOTH("dcerpc.operation", ["15"]),
      "dcerpc.stub_data to-server": ["STUBreq"], "dcerpc.stub_data to-client": ["\x08\0\0\0\0\0\0\0STUBresp"],
    }]);
  });

  test("has no interface that the server refused", () => {
    expect(play(DCERPC_APPLICATION, DCERPC_REFUSED).transactions.map((one) => one["dcerpc.interface to-server"])).toEqual([undefined]);
  });

  test("puts fragments of a request together", () => {
    const fragment = (flags: number, stub: string): Turn => ["to-server", Uint8Array.from(Buffer.from(`\x05\0\0${String.fromCharCode(flags)}\x10\0\0\0${String.fromCharCode(24 + stub.length)}\0\0\0\x02\0\0\0\0\0\0\0\0\0\x0f\0${stub}`, "latin1"))];
    const { transactions, changes } = play(DCERPC_APPLICATION, [fragment(1, "STU"), fragment(0, "Bre"), fragment(2, "q")]);
    expect(transactions.map((one) => one["dcerpc.stub_data to-server"])).toEqual([["STUBreq"]]);
    expect(changes).toEqual(["to-server 255"]);
  });

  test("is recognized by its header, and the same however it is cut", () => {
    const verdict = (bytes: Uint8Array) => DCERPC_APPLICATION.recognize?.({ flow: { transport: "tcp", clientPort: 1, serverPort: 2 }, direction: "to-server", bytes, other: new Uint8Array(0) });
    const [[, bind] = []] = DCERPC_TCP;
    expect([verdict(bind ?? new Uint8Array(0)), verdict((bind ?? new Uint8Array(0)).subarray(0, 15)), verdict(Uint8Array.of(5, 1, 0))]).toEqual(["yes", "more", "more"]);
    expect([verdict(Uint8Array.of(5, 2, 0, 2)), verdict(new Uint8Array(16).fill(5))]).toEqual(["no", "no"]);
    expectSameHoweverCut(DCERPC_APPLICATION, DCERPC_TCP);
    expectSafe(DCERPC_APPLICATION, DCERPC_TCP);
  });
});
