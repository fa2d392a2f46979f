// SNMP: system.* with the vault's credentials where there are some for the host, else version 3's engine discovery (RFC 3414 section 4),
// which needs no
// secret, and system.* with the community that everybody knows.
import { formatCpe } from "@lanthorn/fingerprints";
import { claims, learned, type Learned, printable, toText, type UdpProtocol } from "../protocol.ts";
import { versionClaims, versionObjectOf } from "./snmp-versions.ts";
import {
  decodeInteger, decodeObjectIdentifier, encodeInteger, encodeObjectIdentifier, encodeTlv, readAll, readTlv,
} from "@lanthorn/packets";

const SYSTEM = { description: "1.3.6.1.2.1.1.1.0", object: "1.3.6.1.2.1.1.2.0", name: "1.3.6.1.2.1.1.5.0" } as const;

/** RFC 3411 section 5: the first bit, and the enterprise of who made the engine. */
const NET_SNMP_ENGINE = "80001f88";
/** Objects of the same enterprise, 8072: `netSnmpAgentOIDs`. */
const NET_SNMP_OBJECT = "1.3.6.1.4.1.8072.3.2.";
/** UCD-SNMP-MIB's versionTag: net-snmp's own version. */
const NET_SNMP_VERSION = "1.3.6.1.4.1.2021.100.2.0";

/** @param version 0 for SNMPv1, 1 for SNMPv2c. */
export function encodeSnmpGet(version: 0 | 1, community: string, names: readonly string[], requestId: number): Uint8Array {
  const bindings = names.map((name) => encodeTlv(0x30, Buffer.concat([encodeObjectIdentifier(name), encodeTlv(0x05, Buffer.alloc(0))])));
  const pdu = encodeTlv(
    0xa0, Buffer.concat([encodeInteger(requestId), encodeInteger(0), encodeInteger(0), encodeTlv(0x30, Buffer.concat(bindings))]),
  );
  return encodeTlv(0x30, Buffer.concat([encodeInteger(version), encodeTlv(0x04, Buffer.from(community)), pdu]));
}

/** A reportable request to an engine that is not known: the answer names the engine. */
export function encodeSnmpDiscovery(messageId: number): Uint8Array {
  const empty = encodeTlv(0x04, Buffer.alloc(0));
  const global = encodeTlv(
    0x30, Buffer.concat([encodeInteger(messageId), encodeInteger(65_507), encodeTlv(0x04, Buffer.from([4])), encodeInteger(3)]),
  );
  const security = encodeTlv(0x04, encodeTlv(0x30, Buffer.concat([empty, encodeInteger(0), encodeInteger(0), empty, empty, empty])));
  const pdu = encodeTlv(0xa0, Buffer.concat([encodeInteger(1), encodeInteger(0), encodeInteger(0), encodeTlv(0x30, Buffer.alloc(0))]));
  return encodeTlv(0x30, Buffer.concat([encodeInteger(3), global, security, encodeTlv(0x30, Buffer.concat([empty, empty, pdu]))]));
}

/** @returns The engine's id in hexadecimal, or null for what is no report of one. */
export function decodeSnmpEngine(bytes: Uint8Array): string | null {
  const [version, , security] = readAll(readTlv(bytes)?.value ?? new Uint8Array());
  if (!version || decodeInteger(version.value) !== 3 || security?.tag !== 0x04) return null;
  const [engine] = readAll(readTlv(security.value)?.value ?? new Uint8Array());
  return engine && engine.value.length >= 5 && engine.value.length <= 32 ? Buffer.from(engine.value).toString("hex") : null;
}

/** @returns Texts by name: strings as they are, identifiers in dots; null for what is no answer, empty where the agent tells nothing. */
export function decodeSnmpResponse(bytes: Uint8Array): ReadonlyMap<string, string> | null {
  const [version, , pdu] = readAll(readTlv(bytes)?.value ?? new Uint8Array());
  if (!version || version.tag !== 0x02 || pdu?.tag !== 0xa2) return null;
  const [, , , list] = readAll(pdu.value);
  const found = new Map<string, string>();
  for (const binding of readAll(list?.value ?? new Uint8Array())) {
    const [name, value] = readAll(binding.value);
    if (name?.tag !== 0x06 || !value) continue;
    if (value.tag === 0x04) found.set(decodeObjectIdentifier(name.value), toText(value.value));
    if (value.tag === 0x06) found.set(decodeObjectIdentifier(name.value), decodeObjectIdentifier(value.value));
  }
  return found;
}

/** Description, object and name of an agent, and its engine's id. @see RFC 3418 section 2, RFC 3414 section 4 */
export const snmp: UdpProtocol = {
  name: "snmp",
  ports: [161, 1161],
  async learnAsKnown({ snmp: reader }) {
    const values = await reader.get(Object.values(SYSTEM));
    if (!values) return null;
    return describe(reader.engineId() || null, values, (name) => reader.get([name]));
  },
  payloads: [
    () => encodeSnmpDiscovery(0x4c4e), () => encodeSnmpGet(1, "public", Object.values(SYSTEM), 0x4c4f),
    () => encodeSnmpGet(0, "public", Object.values(SYSTEM), 0x4c50),
  ],
  async learn(answer, { ask }) {
    const engine = decodeSnmpEngine(answer);
    const system = engine === null ? answer : await ask(encodeSnmpGet(1, "public", Object.values(SYSTEM), 0x4c51));
    const values = (system && decodeSnmpResponse(system)) ?? new Map<string, string>();
    if (engine === null && values.size === 0) return null;
    return describe(engine, values, async (name) => {
      const more = values.size > 0 ? await ask(encodeSnmpGet(1, "public", [name], 0x4c52)) : null;
      return more && decodeSnmpResponse(more);
    });
  },
};

/** @param get Asks the agent for one object more, which some makers have. */
async function describe(
  engine: string | null, values: ReadonlyMap<string, string>, get: (name: string) => Promise<ReadonlyMap<string, string> | null>,
): Promise<Learned> {
  const isNetSnmp = engine?.startsWith(NET_SNMP_ENGINE) === true || values.get(SYSTEM.object)?.startsWith(NET_SNMP_OBJECT) === true;
  const versionTag = isNetSnmp ? (await get(NET_SNMP_VERSION))?.get(NET_SNMP_VERSION) ?? "" : null;
  const netSnmp = versionTag === null ? null : { version: /^\d+(?:\.\d+)+/.exec(versionTag)?.[0] ?? "" };
  const versioned = versionObjectOf(values.get(SYSTEM.object) ?? "");
  const system = versioned ? versionClaims(versioned, (await get(versioned.name))?.get(versioned.name) ?? "") : [];
  const description = values.get(SYSTEM.description) ?? "";
  const object = values.get(SYSTEM.object) ?? "";
  return learned("snmp", {
    answers: [
      ...(description === "" ? [] : [{ kind: "snmp-description" as const, text: description }]),
      ...(object === "" ? [] : [{ kind: "snmp-object" as const, text: object }]),
    ],
    claims: [...claims("snmp-engine", 0.9, netSnmp ? {
      product: "net-snmp", vendor: "net-snmp", version: netSnmp.version, cpe: formatCpe(["a", "net-snmp", "net-snmp", netSnmp.version]),
    } : {}), ...system, ...claims("snmp", 0.8, { hostname: values.get(SYSTEM.name) })],
    keys: engine === null ? [] : [{ field: "snmp_engine_id", value: engine }],
    banner: printable([description, object, engine === null ? "" : `engine ${engine}`].filter((line) => line !== "").join("\n")),
  });
}
