import { XMLParser } from "fast-xml-parser";
import * as z from "zod";

/** Texts as nmap wrote them, entities resolved; nothing of it is trusted. */
const Text = z.string().max(16_384).transform(resolveEntities);
const Whole = z.string().regex(/^\d{1,5}$/).transform(Number);
/** What does not fit is left out, and what does is kept. */
const listOf = <T extends z.ZodType>(item: T, most: number) =>
  z.array(z.unknown()).default([]).transform((all) => all.slice(0, most).flatMap((one) => item.safeParse(one).data ?? []));

const Service = z.object({
  name: Text.default(""), product: Text.default(""), version: Text.default(""), ostype: Text.default(""), devicetype: Text.default(""),
  tunnel: Text.default(""), method: z.enum(["table", "probed"]), conf: Whole, cpe: listOf(Text, 16),
});
const Port = z.object({
  protocol: z.literal("tcp"), portid: Whole.pipe(z.int().min(1).max(65_535)), state: z.object({ state: z.string() }),
  service: Service.optional().catch(undefined),
  script: listOf(z.object({ id: Text, output: Text }), 64),
});
const SystemClass = z.object({
  type: Text.default(""), vendor: Text.default(""), osfamily: Text.default(""), osgen: Text.default(""), accuracy: Whole,
  cpe: listOf(Text, 8),
});
const Host = z.object({
  address: listOf(z.object({ addr: z.string(), addrtype: z.enum(["ipv4", "ipv6", "mac"]) }), 4),
  ports: z.object({ port: listOf(Port, 65_536) }).catch({ port: [] }),
  os: z.object({ osmatch: listOf(z.object({ name: Text, accuracy: Whole, osclass: listOf(SystemClass, 16) }), 32) }).catch({ osmatch: [] }),
});

/** A service as nmap names it. */
export type NmapService = z.infer<typeof Service>;
/** A TCP port of nmap's output. `service` is left out where nmap names none. */
export type NmapPort = z.infer<typeof Port>;
/** An operating system that nmap considers; `accuracy` in percent. */
export type NmapSystemClass = z.infer<typeof SystemClass>;
/** A host's element, in nmap's own words; ports of other states than open are among them. */
export type NmapHost = z.infer<typeof Host>;

const LISTS: ReadonlySet<string> = new Set(["address", "port", "osmatch", "osclass", "cpe", "script"]);

const parser = new XMLParser({
  ignoreAttributes: false, attributeNamePrefix: "", parseTagValue: false, parseAttributeValue: false, processEntities: false,
  ignoreDeclaration: true, isArray: (name) => LISTS.has(name),
});

/**
 * Reads one `host` element.
 * @param xml Bounded by the caller.
 * @returns Null for what is none; what nmap would not write inside it is left out.
 */
export function readNmapHost(xml: string): NmapHost | null {
  // Nmap writes none of these inside a host, and entities of one's own begin with them.
  if (xml.includes("<!")) return null;
  try {
    const parsed: unknown = parser.parse(xml);
    return z.object({ host: Host }).safeParse(parsed).data?.host ?? null;
  } catch {
    return null;
  }
}

const NAMED: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

/** The five of XML and characters by number, each once: what one stands for is not read again. */
function resolveEntities(text: string): string {
  return text.replaceAll(/&(?:(lt|gt|amp|quot|apos)|#(\d{1,7})|#x([\da-f]{1,6}));/gi, (
    whole, name?: string, decimal?: string, hexadecimal?: string,
  ) => {
    if (name !== undefined) return NAMED[name.toLowerCase()] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hexadecimal ?? "", 16) : Number(decimal);
    return code <= 0x10_ffff ? String.fromCodePoint(code) : whole;
  });
}
