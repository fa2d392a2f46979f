import type { GuardDeps } from "../guard.ts";
import type { KnownServers } from "./known-servers.ts";
import { choice as choiceSign } from "./server-signs.ts";

/** Which servers clients have chosen. Their answers often go to the client alone, where a probe does not hear them. */
export interface ClientChoices {
  /** A client has chosen an unknown server. */
  note(server: string, choice: Choice): void;
  /** The server is known by its own word. */
  forget(server: string): void;
  tick(now: number): void;
}

/** @see RFC 2131 section 4.3.2, "DHCPREQUEST generated during SELECTING state" */
export interface Choice {
  readonly vlanId: number | null;
  /** The client's MAC address. */
  readonly client: string;
  readonly packet: Uint8Array;
}

/** An offer of the server is looked for so long. */
const CHOICE_MS = 3000;
const MAX_CHOICES = 64;

/** At most 64 choices wait. @param deps.known Those that need no look. */
export function createClientChoices(deps: Pick<GuardDeps, "clock" | "incidents"> & { readonly known: KnownServers }): ClientChoices {
  const { clock, incidents, known } = deps;
  const choices = new Map<string, Choice & { readonly at: number }>();
  return {
    note(server, choice) {
      if (choices.size < MAX_CHOICES && !choices.has(server)) choices.set(server, { ...choice, at: clock.monotonic(), packet: choice.packet.slice() });
    },
    forget: (server) => void choices.delete(server),
    tick(now) {
      for (const [server, choice] of choices) {
        if (now - choice.at < CHOICE_MS) continue;
        choices.delete(server);
        if (!incidents.isOpen("dhcp_server", server)) incidents.report(choiceSign(server, choice, known.all()));
      }
    },
  };
}
