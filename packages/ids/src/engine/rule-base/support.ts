/** Which rules can be run with what applications fill. */

import type { Application } from "../../applications/application.ts";
import type { Condition } from "../../rules/condition.ts";
import type { Rule } from "../../rules/rule.ts";
import { isOfApplication } from "./engine-rule.ts";

/** Protocols that packages/traffic knows by name alone. */
const KNOWN_BY_NAME: ReadonlySet<string> = new Set(["imap", "pop3", "http2"]);

/** What stands in a rule's way. */
export interface Unsupported {
  readonly keyword: string;
  readonly reason: string;
}

/** @returns What no application fills, or `null` where the rule can be run. */
export function findUnsupported(rule: Rule, applications: readonly Application[]): Unsupported | null {
  for (const condition of rule.conditions) {
    if (condition.kind === "event" && condition.layer !== "application") return { keyword: condition.event, reason: `events of the ${condition.layer} are not raised` };
  }
  const named = rule.protocol.applications;
  if (named === null && rule.conditions.length === 0 && !rule.buffers.some(isOfApplication)) return null;
  if (named !== null && applicationsOf(rule, applications).length > 0) return null;
  const missing = missingOf(rule, applications.filter(({ name }) => named === null || named.includes(name)));
  if (missing !== null) return missing;
  if (named === null || named.some((name) => KNOWN_BY_NAME.has(name) || applications.some((application) => application.name === name))) return null;
  return { keyword: named.join(", "), reason: "the protocol is not recognized here" };
}

/** @returns The applications that fill all that the rule asks for. */
export function applicationsOf(rule: Rule, applications: readonly Application[]): readonly Application[] {
  return applications.filter((application) => (rule.protocol.applications?.includes(application.name) ?? true) && missingOf(rule, [application]) === null);
}

function missingOf(rule: Rule, applications: readonly Application[]): Unsupported | null {
  for (const group of rule.buffers) {
    if (isOfApplication(group) && !applications.some(({ buffers }) => buffers.has(group.buffer))) return { keyword: group.buffer, reason: "no application here fills the buffer" };
  }
  for (const condition of rule.conditions) {
    const keyword = needOf(condition);
    if (keyword !== null && !applications.some((application) => answers(application, condition))) return { keyword, reason: "no application here answers it" };
  }
  return null;
}

const PACKET_NUMBERS = /^(?:dsize$|ip\.|tcp\.|icmp\.|icmpv6\.|vlan\.|flow\.)/;

function needOf(condition: Condition): string | null {
  switch (condition.kind) {
    case "number":
      return PACKET_NUMBERS.test(condition.field) ? null : condition.field;
    case "word":
      return condition.field;
    case "tls-time":
      return `tls.${condition.field}`;
    case "event":
      return condition.event;
    case "fact":
      return condition.fact === "same-ip" ? null : condition.fact;
    case "tcp-flags":
    case "fragment-bits":
    case "ip-option":
    case "vlan-id":
    case "stream-size":
    case "application":
      return null;
    default:
      return condition satisfies never;
  }
}

function answers(application: Application, condition: Condition): boolean {
  switch (condition.kind) {
    case "number":
      return application.numbers.has(condition.field);
    case "word":
      return application.words.has(condition.field);
    case "tls-time":
      return application.numbers.has(`tls.${condition.field}`);
    case "event":
      return application.events.has(eventName(condition.event));
    case "fact":
      return condition.fact === "ftp-bounce" ? application.events.has("ftp_bounce") : application.numbers.has("tls.not-after");
    case "tcp-flags":
    case "fragment-bits":
    case "ip-option":
    case "vlan-id":
    case "stream-size":
    case "application":
      return true;
    default:
      return condition satisfies never;
  }
}

/** @returns The event without the application's name before it. */
export function eventName(event: string): string {
  const dot = event.indexOf(".");
  return (dot < 0 ? event : event.slice(dot + 1)).toLowerCase();
}
