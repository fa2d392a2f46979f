import { existsSync } from "node:fs";
import { join } from "node:path";
import type { DnsFinding } from "../../../dns-threats/finding.ts";
import { typeName } from "../../../dns-threats/suspicion.ts";
import type { DnsThreats } from "../../../dns-threats/threats.ts";
import { type ListedThreat, LINK_SOCKET } from "../../../resolver/link/messages.ts";
import { listenForResolver, type ResolverListener } from "../../../resolver/link/resolver-listener.ts";
import type { RoundContext } from "../round-context.ts";

/** Techniques of ATT&CK that a list's category shows by itself. */
const TECHNIQUES: Readonly<Record<string, readonly string[]>> = { command_and_control: ["T1071"], c2: ["T1071"], phishing: ["T1566"] };

/** Takes what the resolver of this machine finds. @returns Null where none is installed. */
export function openResolverLink({ configuration, replay, clock, log, lifecycle }: RoundContext, threats: DnsThreats | null): ResolverListener | null {
  const { directory } = configuration.dns;
  if (directory === null || replay !== null || threats === null || !existsSync(directory)) return null;
  const listener = listenForResolver(join(directory, LINK_SOCKET), { onThreat: (threat) => threats.report(toFinding(threat)), clock, log });
  lifecycle.onClose("the resolver's socket", () => listener.close());
  return listener;
}

function toFinding({ client_ip: clientIp, list, listed_at: listedAt, blocked_record: blockedRecord, type, ...same }: ListedThreat): DnsFinding {
  const key = same.category.toLowerCase().replaceAll(/[ -]/g, "_");
  return {
    ...same, mode: "resolver", campaign: list, clientIp, serverIp: "", type: typeName(type), reason: `${blockedRecord ?? same.name} is in the list ${list}`, feed: list, listedAt, blockedRecord,
    techniques: Object.hasOwn(TECHNIQUES, key) ? TECHNIQUES[key] ?? [] : [], packet: null,
  };
}
