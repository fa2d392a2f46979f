/** A rule's header: action, protocol, both ends and the direction. */

import type { Action, Rule, RuleEnd } from "../rule.ts";
import type { AddressResult } from "./addresses.ts";
import type { PortResult } from "./ports.ts";
import { parseProtocol } from "./protocols.ts";

/** What a header says. */
export type RuleHeader = Pick<Rule, "action" | "protocol" | "source" | "destination" | "isBidirectional">;

/** What reads addresses and ports of headers. */
export interface HeaderReaders {
  readonly addresses: (text: string) => AddressResult;
  readonly ports: (text: string) => PortResult;
}

const ACTIONS: Readonly<Record<string, Action>> = {
  alert: "alert", pass: "pass", drop: "drop", reject: "reject", rejectsrc: "reject-source", rejectdst: "reject-destination", rejectboth: "reject-both",
};

/** The header, or the part of it that cannot be read and why. */
export type HeaderResult = { readonly ok: true; readonly header: RuleHeader } | { readonly ok: false; readonly keyword: string; readonly reason: string };

/** @param words Seven words: action, protocol, source, its ports, direction, destination, its ports. */
export function parseHeader(words: readonly string[], readers: HeaderReaders): HeaderResult {
  const [actionText = "", protocolText = "", sourceText = "", sourcePorts = "", direction = "", destinationText = "", destinationPorts = ""] = words;
  const action = Object.hasOwn(ACTIONS, actionText.toLowerCase()) ? ACTIONS[actionText.toLowerCase()] : undefined;
  if (!action) return { ok: false, keyword: "action", reason: `unknown action ${actionText}` };
  if (words.length !== 7) return { ok: false, keyword: "header", reason: `the header has ${words.length} parts, not 7` };
  const protocol = parseProtocol(protocolText);
  if (!protocol) return { ok: false, keyword: "protocol", reason: `unknown protocol ${protocolText}` };
  if (direction !== "->" && direction !== "<>") return { ok: false, keyword: "direction", reason: `unknown direction ${direction}` };
  const source = readEnd(sourceText, sourcePorts, readers);
  if (typeof source === "string") return { ok: false, keyword: "source", reason: source };
  const destination = readEnd(destinationText, destinationPorts, readers);
  if (typeof destination === "string") return { ok: false, keyword: "destination", reason: destination };
  return { ok: true, header: { action, protocol, source, destination, isBidirectional: direction === "<>" } };
}

function readEnd(addressText: string, portText: string, readers: HeaderReaders): RuleEnd | string {
  const addresses = readers.addresses(addressText);
  if (!addresses.ok) return addresses.reason;
  const ports = readers.ports(portText);
  return ports.ok ? { addresses: addresses.set, ports: ports.set } : ports.reason;
}
