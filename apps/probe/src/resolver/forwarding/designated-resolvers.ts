/**
 * Where clients that found this resolver by its address may ask it encrypted. They believe it where the certificate names that address.
 * @see RFC 9462 section 4, RFC 9461
 */
import { DNS_TYPE, encodeDns, SERVICE_PARAMETER, type ServiceParameter } from "@lanthorn/packets";
import { type Answer, prepareAnswer } from "../messages/answer.ts";
import { wireName } from "./routes.ts";

/** The encrypted ways that there are. */
export interface EncryptedWays {
  /** As in the certificate. */
  readonly name: string;
  readonly tlsPort: number;
  readonly https: { readonly port: number; readonly path: string };
}

const ZONE = Buffer.from(wireName("resolver.arpa")).toString("latin1");
const NAME = "_dns.resolver.arpa";
const TTL_SECONDS = 300;

/** @returns What finds the answer for names below `resolver.arpa`, which are asked of nobody else (section 6.4); null for other names. */
export function createDesignatedResolvers(ways: EncryptedWays | null): (name: Uint8Array, type: number) => Answer | null {
  const answers = ways ? servicesOf(ways).map((parameters, index) =>
    ({ name: NAME, type: DNS_TYPE.svcb, ttlSeconds: TTL_SECONDS, data: { kind: "svcb", priority: index + 1, target: ways.name, parameters } } as const)) : [];
  const prepared = (name: string, type: number, has: boolean): Answer | null =>
    prepareAnswer(encodeDns({ isResponse: true, isAuthoritative: true, questions: [{ name, type }], answers: has ? answers : [] }))?.answer ?? null;
  const own = Buffer.from(wireName(NAME)).toString("latin1");
  return (name, type) => {
    const text = Buffer.from(name.buffer, name.byteOffset, name.byteLength).toString("latin1");
    if (!text.endsWith(ZONE) || (text !== own && text !== ZONE)) return null;
    return prepared(text === own ? NAME : "resolver.arpa", type, text === own && type === DNS_TYPE.svcb);
  };
}

function servicesOf({ tlsPort, https }: EncryptedWays): readonly (readonly ServiceParameter[])[] {
  return [
    [{ key: SERVICE_PARAMETER.alpn, value: alpn("h2") }, { key: SERVICE_PARAMETER.port, value: port(https.port) }, { key: SERVICE_PARAMETER.dohPath, value: Buffer.from(`${https.path}{?dns}`) }],
    [{ key: SERVICE_PARAMETER.alpn, value: alpn("dot") }, { key: SERVICE_PARAMETER.port, value: port(tlsPort) }],
  ];
}

function alpn(id: string): Uint8Array {
  return Uint8Array.of(id.length, ...Buffer.from(id));
}

function port(value: number): Uint8Array {
  return Uint8Array.of(value >>> 8, value & 0xff);
}
