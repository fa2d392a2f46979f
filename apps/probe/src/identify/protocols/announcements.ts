// Devices that describe themselves: UPnP (SSDP and its description), WS-Discovery, CoAP's resources, and IPMI's capabilities.
import type { Claim } from "@lanthorn/fingerprints";
import { isPrintPort } from "@lanthorn/packet-io";
import { Reader } from "@lanthorn/packets";
import { claims, learned, printable, toText, type UdpExchange, type UdpProtocol } from "../protocol.ts";
import { encodeRequest, request } from "./http-message.ts";

/** @see UPnP Device Architecture 2.0 section 1.3.2: sent to one address, MX is not needed */
const SEARCH = "M-SEARCH * HTTP/1.1\r\nHOST: 239.255.255.250:1900\r\nMAN: \"ssdp:discover\"\r\nMX: 1\r\nST: upnp:rootdevice\r\n\r\n";

/** Searches for root devices, and reads the description that the answer points to. @see UPnP Device Architecture 2.0 section 1.3.2 */
export const ssdp: UdpProtocol = {
  name: "upnp",
  ports: [1900],
  payloads: [() => Buffer.from(SEARCH), () => Buffer.from(SEARCH.replace("upnp:rootdevice", "ssdp:all"))],
  async learn(answer, exchange) {
    const text = toText(answer);
    if (!/^(?:HTTP\/1\.\d 200|NOTIFY )/.test(text)) return null;
    const server = /^SERVER: *(.+?)\r?$/im.exec(text)?.[1] ?? "";
    const gateway = /InternetGatewayDevice/.test(text) ? { device_type: "router" } : {};
    const described = await readDescription(/^LOCATION: *(\S{1,300})\r?$/im.exec(text)?.[1] ?? "", exchange);
    return learned("upnp", {
      answers: server === "" ? [] : [{ kind: "http-server", text: server }],
      texts: [{ kind: "upnp-server", text: server }],
      claims: [...claims("ssdp", 0.8, gateway), ...(described?.claims ?? [])],
      banner: printable([text.trim(), described?.banner ?? ""].join("\n")),
    });
  },
};

const DESCRIPTION_MS = 2000;

/** Of the same host only, wherever it points. @see UPnP Device Architecture 2.0 section 2.3 */
async function readDescription(
  location: string, exchange: UdpExchange,
): Promise<{ readonly claims: readonly Claim[]; readonly banner: string } | null> {
  const url = URL.canParse(location) ? new URL(location) : null;
  if (url?.protocol !== "http:" || url.hostname.replaceAll(/[[\]]/g, "") !== exchange.ip || isPrintPort(Number(url.port))) return null;
  const port = Number(url.port || 80);
  const connection = await exchange.connect(port);
  if (!connection) return null;
  const target = { ip: exchange.ip, port, isSecure: false };
  const page = await request(connection, encodeRequest(target, `${url.pathname}${url.search}`), DESCRIPTION_MS);
  connection.close();
  const field = (name: string) => decodeXml(new RegExp(`<${name}>([^<]{1,200})</${name}>`).exec(page?.body ?? "")?.[1]?.trim() ?? "");
  const [type, maker, model, number, friendly] = ["deviceType", "manufacturer", "modelName", "modelNumber", "friendlyName"].map(field);
  if (!type) return null;
  const device = /InternetGatewayDevice|WANDevice/.test(type) ? "router" : /:Printer:/.test(type) ? "printer" : "";
  return {
    claims: claims("upnp", 0.85, { vendor: maker, model: [model, number].filter((text) => text).join(" "), device_type: device }),
    banner: [`device ${type}`, `manufacturer ${maker}`, `model ${model} ${number}`, `name ${friendly}`].join("\n"),
  };
}

function decodeXml(text: string): string {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&apos;", "'").replaceAll("&amp;", "&");
}

/** @see OASIS WS-Discovery 1.1 section 5.2 */
const PROBE = '<?xml version="1.0" encoding="utf-8"?><s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope" '
  + 'xmlns:a="http://schemas.xmlsoap.org/ws/2004/08/addressing" xmlns:d="http://schemas.xmlsoap.org/ws/2005/04/discovery"><s:Header>'
  + "<a:Action>http://schemas.xmlsoap.org/ws/2005/04/discovery/Probe</a:Action>"
  + "<a:MessageID>urn:uuid:00000000-0000-4000-8000-0000004c4e00</a:MessageID>"
  + "<a:To>urn:schemas-xmlsoap-org:ws:2005:04:discovery</a:To></s:Header><s:Body><d:Probe/></s:Body></s:Envelope>";

/** A Probe for any device; the answer's types and ONVIF scopes tell cameras and printers. @see WS-Discovery 1.1 section 5 */
export const wsDiscovery: UdpProtocol = {
  name: "ws-discovery",
  ports: [3702],
  payloads: [() => Buffer.from(PROBE)],
  learn(answer) {
    const text = toText(answer, 16_384);
    if (!/ProbeMatch/.test(text)) return null;
    const types = (/<(?:\w+:)?Types[^<>]{0,200}>([^<]{0,400})/.exec(text)?.[1] ?? "").trim();
    const scopes = (/<(?:\w+:)?Scopes[^<>]{0,200}>([^<]{0,2000})/.exec(text)?.[1] ?? "").trim();
    const scope = (name: string) => decodeScope(new RegExp(`onvif://www\\.onvif\\.org/${name}/(\\S+)`).exec(scopes)?.[1]);
    const device = /NetworkVideoTransmitter/.test(types) ? "camera" : /Print/.test(types) ? "printer" : /Computer/.test(types)
      ? "workstation"
      : "";
    return learned("ws-discovery", {
      claims: claims("ws-discovery", 0.85, { device_type: device, model: scope("hardware"), hostname: "" }),
      banner: printable(`${types}\n${scopes}`),
    });
  },
};

function decodeScope(text: string | undefined): string {
  try {
    return decodeURIComponent(text ?? "");
  } catch {
    return text ?? "";
  }
}

/** A confirmable GET of `.well-known/core`. @see RFC 7252 section 3, RFC 6690 */
export const coap: UdpProtocol = {
  name: "coap",
  ports: [5683],
  payloads: [
    () => Buffer.concat([Buffer.from([0x40, 1, 0x4c, 0x4e, 0xbb]), Buffer.from(".well-known"), Buffer.from([4]), Buffer.from("core")]),
  ],
  async learn(answer, { ask }) {
    const resources = payloadOf(answer);
    if (resources === null) return null;
    const start = payloadOf((await ask(Uint8Array.of(0x40, 1, 0x4c, 0x4e))) ?? new Uint8Array()) ?? "";
    const isLibcoap = /\blibcoap\b/.test(start);
    return learned("coap", {
      claims: claims("coap", 0.5, { device_type: "iot", product: isLibcoap ? "libcoap" : "" }),
      banner: printable([resources, start].filter((text) => text !== "").join("\n")),
    });
  },
};

/** @returns Null for what is no answer to us. */
function payloadOf(answer: Uint8Array): string | null {
  const [head = 0, code = 0, high = 0, low = 0] = answer;
  if (head >> 6 !== 1 || high !== 0x4c || low !== 0x4e || code >> 5 < 2) return null;
  const at = answer.indexOf(0xff, 4);
  return at === -1 ? "" : toText(answer.subarray(at + 1));
}

/** Get Channel Authentication Capabilities, which asks for no session. @see IPMI 2.0 section 22.13 */
export const ipmi: UdpProtocol = {
  name: "asf-rmcp",
  ports: [623],
  payloads: [() => Uint8Array.of(6, 0, 0xff, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 0x20, 0x18, 0xc8, 0x81, 0, 0x38, 0x8e, 4, 0xb5)],
  learn(answer) {
    const reader = new Reader(answer, 4 + 10 + 6);
    if (answer[0] !== 6 || answer[3] !== 7 || reader.u8() !== 0) return null;
    reader.u8();
    const types = reader.u8();
    return reader.failed ? null : learned("asf-rmcp", {
      claims: claims("ipmi", 0.9, { version: (types & 0x80) === 0 ? "IPMI 1.5" : "IPMI 2.0", device_type: "server" }),
    });
  },
};
