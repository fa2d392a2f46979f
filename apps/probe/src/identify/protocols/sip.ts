// SIP's OPTIONS, which rings no phone. @see RFC 3261 section 11
import { type Claim, formatCpe } from "@lanthorn/fingerprints";
import { claims, learned, type Learned, printable, toText } from "../protocol.ts";

/** One whole request, without a body. @param target.ip IPv4, IPv6 without brackets, or a name. */
export function encodeSipOptions(target: { readonly ip: string; readonly port: number }, transport: "UDP" | "TCP"): string {
  const host = target.ip.includes(":") ? `[${target.ip}]` : target.ip;
  return [
    `OPTIONS sip:${host}:${target.port} SIP/2.0`,
    `Via: SIP/2.0/${transport} lanthorn.invalid;branch=z9hG4bKlanthorn;rport`,
    "Max-Forwards: 70",
    `To: <sip:${host}>`,
    "From: <sip:lanthorn@lanthorn.invalid>;tag=1",
    "Call-ID: lanthorn@lanthorn.invalid",
    "CSeq: 1 OPTIONS",
    "Contact: <sip:lanthorn@lanthorn.invalid>",
    "Accept: application/sdp",
    "Content-Length: 0",
    "",
    "",
  ].join("\r\n");
}

/** Servers by how they begin to name themselves. */
const SERVERS: readonly (readonly [pattern: RegExp, product: string, cpe: string])[] = [
  [/^kamailio \((\d[\w.]*)/i, "Kamailio", "kamailio:kamailio"],
  [/^OpenSIPS \((\d[\w.]*)/i, "OpenSIPS", "opensips:opensips"],
  [/^Asterisk PBX (?:certified\/)?(\d[\w.]*)/, "Asterisk", "digium:asterisk"],
  [/^FreeSWITCH-mod_sofia\/(\d[\d.]*\d)/, "FreeSWITCH", "freeswitch:freeswitch"],
];

function productClaims(agent: string): readonly Claim[] {
  return SERVERS.flatMap(([pattern, product, cpe]) => {
    const version = pattern.exec(agent)?.[1];
    return version === undefined ? [] : claims("sip-server", 0.9, { product, version, cpe: formatCpe(["a", ...cpe.split(":"), version]) });
  });
}

/** @returns Null for what is no SIP answer. */
export function learnSip(answer: Uint8Array, service: string): Learned | null {
  const text = toText(answer);
  if (!text.startsWith("SIP/2.0 ")) return null;
  const agent = /^(?:Server|User-Agent) *: *(.+?)\r?$/im.exec(text)?.[1] ?? "";
  const isPhone = /yealink|polycom|grandstream|snom|cisco-?(?:sip)?gateway|cisco-cp|fanvil|mitel|gigaset|linksys\/spa|aastra/i.test(agent);
  return learned(service, {
    answers: agent === "" ? [] : [{ kind: "http-server", text: agent.replace(/^Asterisk PBX /, "Asterisk/") }],
    texts: [{ kind: "sip-server", text: agent }],
    claims: [...productClaims(agent), ...claims("sip", 0.8, { device_type: isPhone ? "phone" : "" })],
    banner: printable(text.split("\r\n\r\n")[0] ?? ""),
  });
}
