import { formatIp } from "@lanthorn/packets";
import type { GuardDeps, GuardFrame } from "../guard.ts";
import type { NamesHeard } from "./read-names.ts";

const KIND = "name_poisoning";

/** Why somebody is reported. */
interface NameSign {
  readonly mac: string;
  readonly severity: "medium" | "high";
  readonly why: string;
  /** Empty for names that nobody has. */
  readonly names: string;
}

/** Reports who answers for others: who forges a sender for each answer makes one incident. */
export interface NameSigns {
  /** @param at The answer, of which `heard` is what it says. */
  report(at: GuardFrame, sign: NameSign, heard: NamesHeard): void;
  /** Whether an incident goes on. */
  isOpen(): boolean;
}

/** Keeps two senders. */
export function createNameSigns(incidents: GuardDeps["incidents"]): NameSigns {
  /** The answerer whose incident may go on, and another one. */
  let poisoner = "";
  let another = "";
  return {
    isOpen: () => incidents.isOpen(KIND, poisoner),
    report(at, sign, heard) {
      const { sourceIp, vlanTags } = at.frame;
      if (!incidents.isOpen(KIND, poisoner)) [poisoner, another] = [sign.mac, ""];
      if (another === "" && sign.mac !== poisoner) another = sign.mac;
      incidents.report({
        kind: KIND, subject: poisoner, severity: sign.severity, ip: sourceIp ? formatIp(sourceIp) : "", mac: sign.mac,
        vlanId: vlanTags[0]?.vlanId ?? null,
        detail: `${sign.mac} answers name questions for others: ${sign.why}. Whoever asks for a mistyped or missing name is sent to it, and shows it password hashes. `
          + "Find the host by its switch port, take it off the network and look at it; switch LLMNR and NetBIOS off by policy.",
        // Each protocol a fact of its own: answers by one after the other are no news.
        facts: {
          [heard.protocol]: heard.names[0]?.address ?? "", ...(sign.names === "" ? { random_names: "answered" } : { names: sign.names }), ...(another === "" ? {} : { also: another }),
        },
        packet: at.captured.bytes,
      });
    },
  };
}
