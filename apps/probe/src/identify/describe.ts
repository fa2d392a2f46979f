import { type Claim, readAnswer } from "@lanthorn/fingerprints";
import type { TlsSession } from "./connection.ts";
import { type FindingText, type ServiceFinding, toFinding } from "./finding.ts";
import type { Learned } from "./protocol.ts";

/** What a host says that it offers by mDNS, one service to a line. */
function offered({ kind, text }: FindingText): readonly Claim[] {
  if (kind !== "mdns-services") return [];
  return text.split("\n").slice(0, 64)
    .flatMap((type) => readAnswer("mdns-service", type).map((claim) => ({ ...claim, source: `mdns:${type}`.slice(0, 56) })));
}

/** @param tls What the conversation was inside of. @returns What the rules say of what was learned, too. */
export function describe(result: Learned, tls: TlsSession | null): ServiceFinding {
  return toFinding({
    service: result.service,
    claims: [...result.claims, ...result.answers.flatMap(({ kind, text }) => readAnswer(kind, text)), ...result.texts.flatMap(offered)],
    texts: [...result.answers, ...result.texts],
    keys: result.keys,
    banner: result.banner,
    tls: result.tls ?? tls,
  });
}
