// Microsoft SQL Server's pre-login, which names the version before anybody logs in. @see MS-TDS 2.2.6.5
import { Reader } from "@lanthorn/packets";
import { claims, learned, type TcpProtocol } from "../protocol.ts";

const PRELOGIN = Uint8Array.of(
  0x12, 1, 0, 47, 0, 0, 1, 0, 0, 0, 26, 0, 6, 1, 0, 32, 0, 1, 2, 0, 33, 0, 1, 3, 0, 34, 0, 4, 4, 0, 38, 0, 1, 0xff, 9, 0, 0, 0, 0, 0, 2, 0,
  0, 0, 0, 0, 0,
);
const RELEASES: Readonly<Record<number, string>> = {
  10: "2008", 11: "2012", 12: "2014", 13: "2016", 14: "2017", 15: "2019", 16: "2022", 17: "2025",
};

/** Release and build from the answer to a pre-login. @see MS-TDS 2.2.6.5 */
export const sqlServer: TcpProtocol = {
  name: "ms-sql-s",
  ports: [1433],
  hello: () => PRELOGIN,
  ownPortsOnly: true,
  recognise(bytes) {
    if (bytes[0] !== 4 || (bytes.length > 1 && bytes[1] !== 1)) return "no";
    return bytes.length < 4 || bytes.length < ((bytes[2] ?? 0) << 8) + (bytes[3] ?? 0) ? "more" : "yes";
  },
  learn(first) {
    const option = new Reader(first, 8);
    if (option.u8() !== 0) return Promise.resolve(null);
    const at = new Reader(first, 8 + option.u16());
    const [major, minor, build] = [at.u8(), at.u8(), at.u16()];
    if (at.failed || option.failed) return Promise.resolve(null);
    const version = `${major}.${minor.toString().padStart(2, "0")}.${build}`;
    return Promise.resolve(learned("ms-sql-s", {
      claims: claims("tds", 0.95, {
        product: `Microsoft SQL Server ${RELEASES[major] ?? ""}`.trim(), vendor: "Microsoft", version,
        cpe: `cpe:2.3:a:microsoft:sql_server:${RELEASES[major] ?? "*"}:*:*:*:*:*:*:*`, device_type: "server",
      }),
      banner: version,
    }));
  },
};
