import { existsSync } from "node:fs";
import { join } from "node:path";
import type { DnsQueries } from "@lanthorn/contract/uplink";
import { toInstant } from "@lanthorn/runtime";
import { techniquesOf } from "../../../dns-lists/category.ts";
import type { DnsFinding } from "../../../dns-threats/finding.ts";
import { typeName } from "../../../dns-threats/suspicion.ts";
import type { DnsThreats } from "../../../dns-threats/threats.ts";
import { createPublisher } from "../../../queue/publisher.ts";
import { type ListedThreat, LINK_SOCKET, type ReportedQueries } from "../../../resolver/link/messages.ts";
import { listenForResolver, type ResolverListener } from "../../../resolver/link/resolver-listener.ts";
import type { Queue } from "../open-queue.ts";
import type { RoundContext } from "../round-context.ts";

/** Takes what the resolver of this machine finds, and what it was asked. @returns Null where none is installed. */
export function openResolverLink({ configuration, replay, clock, log, lifecycle }: RoundContext, { db, outbox }: Queue, threats: DnsThreats | null): ResolverListener | null {
  const { directory } = configuration.dns;
  if (directory === null || replay !== null || threats === null || !existsSync(directory)) return null;
  const publisher = createPublisher({ db, outbox, log, what: "DNS queries" });
  const listener = listenForResolver(join(directory, LINK_SOCKET), {
    onThreat: (threat) => threats.report(toFinding(threat)),
    onQueries: (queries) => publisher.publish([{ type: "dns_queries", occurred_at: toInstant(clock.now()), data: toEvent(queries) }]), clock, log,
  });
  lifecycle.onClose("the resolver's socket", () => listener.close());
  return listener;
}

function toEvent({ from, to, rows, ...same }: ReportedQueries): DnsQueries {
  return { ...same, from: toInstant(from), to: toInstant(to), rows: rows.map((row) => ({ ...row, type: typeName(row.type), last_at: toInstant(row.last_at) })) };
}

function toFinding({ client_ip: clientIp, list, listed_at: listedAt, blocked_record: blockedRecord, type, ...same }: ListedThreat): DnsFinding {
  return {
    ...same, mode: "resolver", campaign: list, clientIp, serverIp: "", type: typeName(type), reason: `${blockedRecord ?? same.name} is in the list ${list}`, feed: list, listedAt, blockedRecord,
    techniques: techniquesOf(same.category), packet: null,
  };
}
