// Apple's file service tells its status before anybody logs in. @see Apple Filing Protocol Reference, "FPGetSrvrInfo"; DSI's DSIGetStatus
import { Reader } from "@lanthorn/packets";
import { claims, learned, printable, type TcpProtocol, toText } from "../protocol.ts";

const GET_STATUS = 3;
const HEAD = 16;

/** Server name, machine model and versions from its status. @see Apple Filing Protocol Reference, "FPGetSrvrInfo" */
export const afp: TcpProtocol = {
  name: "afp",
  ports: [548],
  hello: () => Uint8Array.of(0, GET_STATUS, 0x4c, 0x4e, ...Array.from({ length: 12 }, () => 0)),
  ownPortsOnly: true,
  recognise(bytes) {
    if ((bytes[0] ?? 1) !== 1 || (bytes[1] ?? GET_STATUS) !== GET_STATUS) return "no";
    if (bytes.length < HEAD) return "more";
    const reader = new Reader(bytes, 2);
    const id = reader.u16();
    reader.take(4);
    const length = reader.u32();
    return id !== 0x4c4e || length > 8192 ? "no" : bytes.length >= HEAD + length ? "yes" : "more";
  },
  learn(first) {
    const block = first.subarray(HEAD);
    const offsets = new Reader(block);
    const [machineAt, versionsAt] = [offsets.u16(), offsets.u16()];
    offsets.take(6);
    const name = pascal(new Reader(block, 10));
    const machine = pascal(new Reader(block, machineAt));
    const list = new Reader(block, versionsAt);
    const versions = Array.from({ length: Math.min(list.u8(), 16) }, () => pascal(list)).filter((version) => version !== "");
    const netatalk = /^Netatalk ?v?(\d[\w.]*)/i.exec(machine)?.[1];
    const isApple = /^(?:Macmini|MacBook|iMac|MacPro|Mac\d|TimeCapsule|AirPort|Macintosh|Xserve)/.test(machine);
    return Promise.resolve(learned("afp", {
      claims: claims("afp", 0.85, {
        hostname: name,
        ...(netatalk === undefined ? {} : { product: "Netatalk", vendor: "Netatalk", version: netatalk }),
        ...(isApple ? { vendor: "Apple", model: machine.split(",")[0] } : {}),
      }),
      banner: printable([`name ${name}`, `machine ${machine}`, `versions ${versions.join(", ")}`].join("\n")),
    }));
  },
};

/** A string whose length comes first; empty where it is not whole. */
function pascal(reader: Reader): string {
  const bytes = reader.take(reader.u8());
  return reader.failed ? "" : toText(bytes, 255);
}
