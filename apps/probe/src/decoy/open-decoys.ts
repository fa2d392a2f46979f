import { randomBytes } from "node:crypto";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import type { DecoyReport } from "@lanthorn/contract/uplink";
import type { Clock, Log } from "@lanthorn/runtime";
import { ProbeError } from "../errors.ts";
import { type AddressWatch, watchAddresses } from "./addresses/watch-addresses.ts";
import { createEvidenceQueue } from "./evidence/evidence-queue.ts";
import { createExemptions, type Exemptions } from "./ladder/exemptions.ts";
import { createExpectedTests } from "./ladder/expected-tests.ts";
import { createGuesses } from "./ladder/guesses.ts";
import { createLadder, type Ladder } from "./ladder/ladder.ts";
import { type CallWitness, createWitnesses, type WitnessedPlace } from "./ladder/witness.ts";
import { linkToDaemon } from "./link/daemon-link.ts";
import { LINK_SOCKET } from "./link/messages.ts";
import { baitingDecoys, openNameBait } from "./name-bait/name-bait.ts";
import { createScanTaker } from "./scans/take-scans.ts";
import { hostnameOf, type OpenPlace, openPlaces, type PlaceDeps, type ServedPlace } from "./open-places.ts";
import { isDatagramService } from "./services/names.ts";
import { SERVICES } from "./services/table.ts";
import { createAnswerLimits } from "./sessions/answer-limits.ts";
import { createFailureLog } from "./sessions/failure-log.ts";
import type { IsBait } from "./sessions/reports.ts";
import { openSession } from "./sessions/session.ts";
import { createSessionTable, type SessionTable } from "./sessions/session-table.ts";
import { createTransferTable } from "./sessions/transfers.ts";
import type { DecoySettings, DecoysSettings } from "./settings.ts";

/** Decoys that are there. */
export interface OpenDecoys {
  readonly places: readonly ServedPlace[];
  readonly ladder: Pick<Ladder, "leftOut" | "size">;
  readonly exemptions: Pick<Exemptions, "counts">;
  readonly sessions: Pick<SessionTable, "evicted" | "size">;
  /** Connections since the start, those that a fault of ours ended, and those that were reset before anybody could see from where they came. */
  readonly counts: { readonly connections: number; readonly failures: number; readonly vanished: number };
  close(): Promise<void>;
}

/** How often it is looked whether a decoy's own address came or went. */
const LOOK_MS = 1000;

interface Means {
  readonly clock: Clock;
  readonly log: Log;
  readonly ownAddresses: () => readonly string[];
}

/**
 * Serves all that can be served: a port that is in use is one decoy's service less.
 * @throws ProbeError `config-invalid` where nothing can be served.
 */
export async function openDecoys(settings: DecoysSettings, { clock, log, ownAddresses }: Means): Promise<OpenDecoys> {
  const ladder = createLadder();
  const [guesses, evidence, tests] = [createGuesses(), createEvidenceQueue(), createExpectedTests()];
  const addresses = watchAddresses(settings.addresses_directory, settings.decoys);
  // Those that decoys take for themselves come and go: while one is there, whoever comes from it is this machine.
  const taken = () => settings.decoys.flatMap(({ name, address }) => (addresses.reportOf(name)?.state === "taken" ? [address] : []));
  const exemptions = createExemptions(settings.exempt, () => [...ownAddresses(), ...taken()]);
  const sessions = createSessionTable(settings.max_sessions);
  const counts = { connections: 0, failures: 0, vanished: 0 };
  const logFailure = createFailureLog(log, clock);
  const callWitness = createWitnesses({ ladder, guesses, evidence, exemptions, tests, clock, keepPasswords: settings.report_passwords });
  const [serving, endServing] = serve({
    callWitness, sessions, counts, clock, isBait: (username, isPassword) => settings.bait.some((one) => one.username === username && isPassword(one.password)),
    onFailure(error, service) {
      counts.failures += 1;
      logFailure(error, service);
    },
  });
  const opened = await openPlaces(settings, { ...serving, addressProblem: addresses.problemOf });
  for (const { decoy, address, service, port, problem } of opened.places) if (problem !== null) log.error({ decoy, service, port, reason: problem }, `${address} does not serve ${service}`);
  if (opened.places.every(({ problem }) => problem !== null) && settings.decoys.every(({ own }) => own === null)) {
    await opened.close();
    throw new ProbeError("config-invalid", `no decoy can be served: ${opened.places[0]?.problem ?? ""}`);
  }
  const endLook = clock.every(LOOK_MS, () => {
    addresses.refresh();
    void opened.refresh();
  });
  const endLink = linkToDaemon({
    path: join(settings.link_directory, LINK_SOCKET), ladder, guesses, evidence, random: Math.random, clock, onExempt: exemptions.takeSite,
    onScans: createScanTaker({ places: opened.places, exemptions, ladder, clock }),
    onTest(name) {
      const place = opened.places.find(({ decoy, problem }) => decoy === name && problem === null);
      if (place) tests.expect(name, place.port, clock.monotonic());
      return place ? { address: place.address, port: place.port, transport: isDatagramService(place.service) ? "udp" : "tcp" } : null;
    },
    state: () => ({ ...counts, sessions: sessions.size, exempt: [...exemptions.counts()], decoys: reportDecoys(settings.decoys, opened.places, addresses) }),
  });
  const endBait = openNameBait(settings.name_bait, {
    exemptions, ladder, clock, log, random: Math.random, taken: settings.decoys.map((decoy) => hostnameOf(decoy).toLowerCase()),
    decoys: () => baitingDecoys(settings.decoys, networkInterfaces()),
  });
  return {
    places: opened.places, ladder, exemptions, sessions, counts,
    async close() {
      endBait();
      endLook();
      endServing();
      await Promise.all([opened.close(), sessions.close()]);
      // Last: those who were there leave evidence.
      endLink();
    },
  };
}

/** @returns What serves those who come, and what ends the conversations that have ports of their own. */
function serve({ callWitness, sessions, counts, clock, isBait, onFailure }: {
  readonly callWitness: CallWitness; readonly sessions: SessionTable; readonly counts: { connections: number; vanished: number }; readonly clock: Clock; readonly isBait: IsBait;
  readonly onFailure: (error: unknown, service: string) => void;
}): readonly [Omit<PlaceDeps, "addressProblem">, () => void] {
  const [limits, transfers] = [createAnswerLimits(), createTransferTable(clock)];
  const toWitnessed = ({ decoy, address, service, port }: OpenPlace, isProven: boolean): WitnessedPlace => ({ decoy, service, destination: address, destinationPort: port, isProven });
  return [{
    clock, onVanished: () => void (counts.vanished += 1), onFailure: (error) => onFailure(error, "files"),
    onConnection(socket, source, place, { stage, tls }) {
      counts.connections += 1;
      limits.prove(source, clock.monotonic());
      const witness = callWitness(toWitnessed(place, true), source, socket.remotePort ?? 0);
      sessions.add(socket, source);
      openSession(socket, { service: SERVICES[place.service], stage, tls, address: source, witness, onEnd: () => socket.destroy(), isBait, randomBytes, clock, onFailure: (error) => onFailure(error, place.service) });
    },
    datagramDeps: (service, placeOf) => ({
      limits, transfers, isBait, randomBytes, clock, onFailure: (error) => onFailure(error, service),
      callWitness(source, port) {
        counts.connections += 1;
        return callWitness(toWitnessed(placeOf(), false), source, port);
      },
    }),
  }, transfers.close];
}

/** Beyond them they are left out of what is reported. */
const MAX_REPORTED_PLACES = 512;

function reportDecoys(decoys: readonly DecoySettings[], places: readonly ServedPlace[], { reportOf }: Pick<AddressWatch, "reportOf">): DecoyReport[] {
  let room = MAX_REPORTED_PLACES;
  return decoys.map((decoy) => {
    const own = places.filter((place) => place.decoy === decoy.name).slice(0, Math.max(0, room));
    room -= own.length;
    const services = own.map(({ service, port, problem }) => ({ service, port, problem: problem && problem.slice(0, 255) }));
    const ownAddress = reportOf(decoy.name);
    return { name: decoy.name, address: decoy.address, persona: decoy.persona, hostname: hostnameOf(decoy), services, ...(ownAddress && { own_address: ownAddress }) };
  });
}
