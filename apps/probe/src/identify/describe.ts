import { readAnswer } from "@lanthorn/fingerprints";
import type { TlsSession } from "./connection.ts";
import { type ServiceFinding, toFinding } from "./finding.ts";
import type { Learned } from "./protocol.ts";

/** @param tls What the conversation was inside of. @returns What the rules say of what was learned, too. */
export function describe(result: Learned, tls: TlsSession | null): ServiceFinding {
  return toFinding({
    service: result.service,
    claims: [...result.claims, ...result.answers.flatMap(({ kind, text }) => readAnswer(kind, text))],
    texts: [...result.answers, ...result.texts],
    keys: result.keys,
    banner: result.banner,
    tls: result.tls ?? tls,
  });
}
