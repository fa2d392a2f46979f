// NTP: a client's question (RFC 5905), and the variables by which ntpd tells its version (RFC 9327).
import { Reader } from "@lanthorn/packets";
import { claims, learned, printable, toText, type UdpProtocol } from "../protocol.ts";

const CLIENT_V4 = 0x23;
const READ_VARIABLES = Uint8Array.of(0x16, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0);

/** Stratum, and ntpd's own variables where it tells them. @see RFC 5905 section 7.3, RFC 9327 section 4 */
export const ntp: UdpProtocol = {
  name: "ntp",
  ports: [123],
  payloads: [() => Uint8Array.of(CLIENT_V4, ...Array.from({ length: 46 }, () => 0), 1)],
  async learn(answer, { ask }) {
    const [flags = 0, stratum = 0] = answer;
    if (answer.length < 48 || (flags & 7) !== 4) return null;
    const variables = readVariables((await ask(READ_VARIABLES)) ?? new Uint8Array());
    const version = /version="?(ntpd|ntpsec|ntpd ntpsec-)[ -]?([\w.@-]+)/.exec(variables);
    const isSec = /ntpsec/.test(variables);
    const number = /(?<!\d)(\d{1,9}\.\d{1,9}\.\d{1,9}(?:p\d{1,9})?)/.exec(version?.[0] ?? "")?.[1];
    const system = /system="?([^",]+)/.exec(variables)?.[1];
    return learned("ntp", {
      claims: claims("ntp", 0.9, variables === "" ? { version: `v${(flags >> 3) & 7}` } : {
        product: isSec ? "NTPsec" : "NTP", vendor: isSec ? "NTPsec" : "NTP Project", version: number ?? `v${(flags >> 3) & 7}`,
        os: system?.split("/")[0], os_version: system?.split("/")[1],
      }),
      texts: [{ kind: "ntp-variables", text: variables.replaceAll(/,\s+/g, ",").trim() }],
      banner: printable(`stratum ${stratum}\n${variables}`),
    });
  },
};

function readVariables(bytes: Uint8Array): string {
  const reader = new Reader(bytes);
  const mode = reader.u8() & 7;
  const operation = reader.u8();
  reader.take(8);
  const count = reader.u16();
  return mode === 6 && (operation & 0x80) !== 0 ? toText(reader.take(count)) : "";
}
