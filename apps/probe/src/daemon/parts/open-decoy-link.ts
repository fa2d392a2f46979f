import { existsSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import type { DecoyReport, HoneypotHit } from "@lanthorn/contract/uplink";
import { openCapture } from "@lanthorn/packet-io";
import { toInstant } from "@lanthorn/runtime";
import { createCollectorExemption } from "../../decoy/link/collector-exemption.ts";
import { type DecoysListener, listenForDecoys } from "../../decoy/link/decoy-listener.ts";
import { describeHit } from "../../decoy/link/describe-hit.ts";
import { LINK_SOCKET, type ReportedHit } from "../../decoy/link/messages.ts";
import { watchScans } from "../../decoy/scans/watch-scans.ts";
import { createPublisher } from "../../queue/publisher.ts";
import type { Queue } from "./open-queue.ts";
import type { RoundContext } from "./round-context.ts";
import { createTriedPasswords, type TriedPasswords } from "./tried-passwords.ts";

/** What the decoys of this machine see, and for whom the passwords that are tried at them are sealed. */
export interface DecoyLink extends DecoysListener, Pick<TriedPasswords, "sealFor"> {}

/** Takes what the decoys of this machine see. @param deps.onDecoys They are otherwise than before, or their addresses are. @returns Null where none are installed. */
export function openDecoyLink({ configuration, identity, replay, random, clock, log, lifecycle }: RoundContext, { db, outbox }: Queue, { macAt, onDecoys }: {
  readonly macAt: (ip: string) => string; readonly onDecoys: () => void;
}): DecoyLink | null {
  const { directory } = configuration.decoy;
  if (directory === null || replay !== null || !existsSync(directory)) return null;
  const publisher = createPublisher({ db, outbox, log, what: "hits of decoys" });
  const collector = createCollectorExemption(configuration.collector.mqtt_url ?? identity().mqtt_url, clock);
  const passwords = createTriedPasswords();
  const listener = listenForDecoys(join(directory, LINK_SOCKET), {
    onHit: (hit) => publisher.publish([{ type: "honeypot_hit", occurred_at: toInstant(Math.min(hit.last_at, clock.now())), data: toEvent(hit, macAt(hit.source_ip)) }]),
    onCredentials: (data) => publisher.publish([{ type: "honeypot_credentials", occurred_at: toInstant(clock.now()), data: passwords.seal(data) }]),
    onEvidence: (data) => publisher.publish([{ type: "honeypot_evidence", occurred_at: toInstant(clock.now()), data }]),
    collector: collector.now, onDecoys, clock, log,
  });
  const scans = watchScans({
    openCapture, interfaces: () => interfacesBelow(networkInterfaces(), listener.state()?.decoys ?? []), send: listener.scanned, random, clock, log,
    addresses() {
      const state = listener.state();
      return state?.is_running === true ? state.decoys.filter(({ own_address: own }) => own === undefined || own.state === "taken").map(({ address }) => address) : [];
    },
  });
  lifecycle.onClose("scans of decoys", async () => {
    collector.close();
    await scans.close();
  });
  lifecycle.onClose("the decoys' socket", () => listener.close());
  return { ...listener, sealFor: passwords.sealFor };
}

type Interfaces = Readonly<Record<string, readonly { readonly address: string }[] | undefined>>;

/** An address that a decoy has for itself is on a link of its own, whose frames the interface below carries: one capture there is that of all of them. */
function interfacesBelow(interfaces: Interfaces, decoys: readonly DecoyReport[]): Interfaces {
  const own = decoys.flatMap(({ address, own_address: report }) => (report ? [{ address, parent: report.interface }] : []));
  const isOwn = ({ address }: { readonly address: string }) => own.some((one) => one.address === address);
  return Object.fromEntries(Object.entries(interfaces).map(([name, addresses = []]) => [
    name, [...addresses.filter((one) => !isOwn(one)), ...own.filter(({ parent }) => parent === name).map(({ address }) => ({ address }))],
  ]));
}

function toEvent(hit: ReportedHit, mac: string): HoneypotHit {
  const { connections, techniques, since, last_at: lastAt, is_test: isTest, left_out: _, ...same } = hit;
  return { ...same, detail: describeHit(hit), source_mac: mac, count: connections, mitre_techniques: techniques, since: toInstant(since), last_at: toInstant(lastAt), ...(isTest && { is_test: true }) };
}
