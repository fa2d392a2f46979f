import * as z from "zod";
import { Id, Instant, IpNetwork, MacAddress } from "../../values.ts";
import { parseNetwork, type Network, isInNetwork, parseAddress } from "./networks.ts";

/** Suppressions that one site may have. Each is compared with every alert. */
export const MAX_IDS_SUPPRESSIONS = 1000;

/** What is not reported though a rule matches: alerts that every part which is not null fits. It is counted all the same. */
export const IdsSuppression = z.object({
  id: Id,
  /** With `generator_id`. */
  signature_id: z.int().min(0).max(4_294_967_295).nullable(),
  generator_id: z.int().min(0).max(4_294_967_295),
  /** The key of a category, or the name of a class. */
  category: z.string().max(128).nullable(),
  source: IpNetwork.nullable(),
  destination: IpNetwork.nullable(),
  /** Either end is in it. */
  network: IpNetwork.nullable(),
  /** Addresses of the device: either end is one of them, or the internal host's MAC is. Null for any device. */
  device: z.object({ ips: z.array(IpNetwork).max(64), macs: z.array(MacAddress).max(64) }).nullable(),
  expires_at: Instant.nullable(),
});
export type IdsSuppression = z.infer<typeof IdsSuppression>;

/** An alert as suppressions see it. */
export interface SuppressibleAlert {
  readonly signatureId: number;
  readonly generatorId: number;
  readonly message: string;
  /** As `classtype` names it; its description where the engine says nothing else; empty for none. */
  readonly className: string;
  readonly sourceIp: string;
  readonly destinationIp: string;
  /** Empty while unknown. */
  readonly internalMac: string;
}

/** Compiled suppressions. */
export interface IdsSuppressions {
  /** @param now Milliseconds since the epoch. @returns The id of the first that fits, null for none. */
  find(alert: SuppressibleAlert, now: number): string | null;
}

/**
 * The key of the category of a rule: the first two words of its message where both are capitals, as `et-info` of "ET INFO …". Published
 * rules are grouped so.
 * @returns Empty where the message has none.
 */
export function idsCategoryOf(message: string): string {
  const [first = "", second = ""] = message.slice(0, 128).split(" ");
  return isCapitals(first) && isCapitals(second) ? idsCategoryKey(`${first} ${second}`) : "";
}

/** A category as it is compared: small letters and digits, with hyphens between. */
export function idsCategoryKey(text: string): string {
  return text.toLowerCase().split(/[^a-z0-9]/).filter(Boolean).join("-");
}

function isCapitals(word: string): boolean {
  return /^[A-Z][A-Z0-9_]{1,31}$/.test(word);
}

/** @param list What cannot be read as a network is left out: it suppresses nothing. */
export function compileIdsSuppressions(list: readonly IdsSuppression[]): IdsSuppressions {
  const all = list.flatMap((one) => compile(one) ?? []);
  return {
    find(alert, now) {
      if (all.length === 0) return null;
      const ends = [parseAddress(alert.sourceIp), parseAddress(alert.destinationIp)] as const;
      const keys = [idsCategoryOf(alert.message), idsCategoryKey(alert.className)];
      return all.find((one) => one.expiresAt > now && fits(one, alert, { ends, keys }))?.id ?? null;
    },
  };
}

interface Compiled {
  readonly id: string;
  readonly rule: IdsSuppression;
  readonly category: string | null;
  readonly source: Network | null;
  readonly destination: Network | null;
  readonly network: Network | null;
  readonly device: { readonly networks: readonly Network[]; readonly macs: readonly string[] } | null;
  readonly expiresAt: number;
}

interface Facts {
  readonly ends: readonly [bigint | null, bigint | null];
  readonly keys: readonly string[];
}

function compile(rule: IdsSuppression): Compiled | null {
  const named = [rule.source, rule.destination, rule.network].map((text) => (text === null ? null : parseNetwork(text)));
  const [source = null, destination = null, network = null] = named;
  if ((rule.source !== null && !source) || (rule.destination !== null && !destination) || (rule.network !== null && !network)) return null;
  return {
    id: rule.id, rule, category: rule.category === null ? null : idsCategoryKey(rule.category), source, destination, network,
    device: rule.device && { networks: rule.device.ips.flatMap((text) => parseNetwork(text) ?? []), macs: rule.device.macs },
    expiresAt: rule.expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(rule.expires_at),
  };
}

function fits({ rule, category, source, destination, network, device }: Compiled, alert: SuppressibleAlert, { ends, keys }: Facts): boolean {
  if (rule.signature_id !== null && (rule.signature_id !== alert.signatureId || rule.generator_id !== alert.generatorId)) return false;
  if (category !== null && !keys.includes(category)) return false;
  const isWithin = (end: bigint | null, one: Network) => end !== null && isInNetwork(end, one);
  if (source && !isWithin(ends[0], source)) return false;
  if (destination && !isWithin(ends[1], destination)) return false;
  if (network && !ends.some((end) => isWithin(end, network))) return false;
  return device === null || device.macs.includes(alert.internalMac) || device.networks.some((one) => ends.some((end) => isWithin(end, one)));
}
