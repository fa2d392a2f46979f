import type { Severity } from "@lanthorn/contract/uplink";
import type { IncidentRegister } from "../incidents/incident-register.ts";
import type { GuardFrame } from "../guard.ts";
import { describeRoot } from "./read-bpdu.ts";

const KIND = "spanning_tree";
/** One incident for all bridges that nobody knows: tools draw a MAC for each frame. */
const SUBJECT = { bridge: "unknown bridge", root: "root", flood: "flood" } as const;

/** What the guard reports, in words. `mac` is the sender. Roots are sixteen hexadecimal digits; null and "" for none. */
export interface TreeSigns {
  flood(at: GuardFrame, mac: string): void;
  rootChange(at: GuardFrame, mac: string, change: RootSign): void;
  unknownBridge(at: GuardFrame, mac: string, bridge: { readonly severity: Severity; readonly root: string; readonly right: string | null }): void;
}

/** `fought`: it goes to and fro. `suspect`: it may be a tool's. */
interface RootSign {
  readonly what: "fought" | "suspect" | "changed";
  readonly root: string;
  readonly right: string;
}

const ROOT_CHANGES: Readonly<Record<RootSign["what"], { readonly severity: Severity; readonly detail: string }>> = {
  fought: {
    severity: "high",
    detail: "The root of the spanning tree goes to and fro between two bridges. A host that claims to be root again and again does this, as does a core switch "
      + "that keeps restarting. Look on the switches for the port that the new root is behind, and set root guard or BPDU guard there.",
  },
  suspect: {
    severity: "medium",
    detail: "Another bridge has become root of the spanning tree, with the best priority there is or an identity like the old root's. Traffic between switches now "
      + "passes it. Check that it is a switch of yours; else find its port and set root guard there.",
  },
  changed: {
    severity: "info", detail: "Another bridge has become root of the spanning tree. This is right where a switch was replaced, added or has failed.",
  },
};

/** Reports to the register. */
export function createTreeSigns(incidents: Pick<IncidentRegister, "report" | "isOpen">): TreeSigns {
  function report(at: GuardFrame, mac: string, sign: {
    readonly subject: string; readonly severity: Severity; readonly detail: string; readonly facts?: Readonly<Record<string, string>>;
  }): void {
    incidents.report({ kind: KIND, ip: "", mac, vlanId: at.frame.vlanTags[0]?.vlanId ?? null, packet: at.captured.bytes, ...sign });
  }
  return {
    flood: (at, mac) => report(at, mac, {
      subject: SUBJECT.flood, severity: "medium",
      detail: `${mac} sends far more BPDUs or notifications of topology changes than a bridge does. Switches then forget where hosts are, and flood their traffic `
        + "to every port. Find its port and set BPDU guard there.",
    }),
    rootChange: (at, mac, { what, root, right }) =>
      report(at, mac, { subject: SUBJECT.root, ...ROOT_CHANGES[what], facts: { root: describeRoot(root), learned_root: describeRoot(right) } }),
    unknownBridge(at, mac, { severity, root, right }) {
      const facts = { ...(root === "" ? {} : { claimed_root: describeRoot(root) }), ...(right === null ? {} : { learned_root: describeRoot(right) }) };
      report(at, mac, {
        // Who draws a root for each frame makes no news.
        subject: SUBJECT.bridge, severity, facts: incidents.isOpen(KIND, SUBJECT.bridge) ? {} : facts,
        detail: `${mac}, which is no known switch port, sends BPDUs. ${whyOf(severity)} Find its port, and set BPDU guard on the ports of hosts.`,
      });
    },
  };
}

function whyOf(severity: Severity): string {
  if (severity === "high") return "It claims to be a better root than the one that is known, so that traffic between switches would pass it.";
  if (severity === "medium") return "Only the switch's own port should send them here: somebody has connected a switch, or a host takes part in the spanning tree.";
  return "No other bridge is heard here, so it may be a new or replaced switch.";
}
