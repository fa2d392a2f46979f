/** The first words of programs that carry data in DNS. */
import { isCarrier } from "../facts/answer-facts.ts";

/** The version 0x502 of its protocol in base32, behind the letter of the command. @see https://github.com/yarrick/iodine */
const IODINE_VERSION = "vaaaaka";
/** Labels that name a command, which no host's name may begin with. @see https://github.com/alex-sector/dns2tcp */
const DNS2TCP_COMMANDS = ["=auth", "=connect", "=resource"] as const;
/** What its names begin with unless it has a domain of its own. @see https://github.com/iagox86/dnscat2 */
const DNSCAT = "dnscat";

/**
 * @param below What of the name is below the domain, in lower case.
 * @returns The program's name, or "".
 */
export function spokenTool(below: string, type: number): string {
  if (!isCarrier(type) && !below.startsWith(IODINE_VERSION)) return "";
  if (below.startsWith(IODINE_VERSION)) return "iodine";
  if (below === DNSCAT || below.startsWith(`${DNSCAT}.`)) return "dnscat2";
  return DNS2TCP_COMMANDS.some((command) => below.endsWith(command) || below.includes(`${command}.`)) ? "dns2tcp" : "";
}
