import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import { join } from "node:path";
import { TLSSocket, createSecureContext, type SecureContext } from "node:tls";
import type { DecoyReport } from "@lanthorn/contract/uplink";
import { type Clock, describeError, type Log } from "@lanthorn/runtime";
import { ProbeError } from "../errors.ts";
import { createExemptions, type Exemptions } from "./ladder/exemptions.ts";
import { createExpectedTests } from "./ladder/expected-tests.ts";
import { createGuesses } from "./ladder/guesses.ts";
import { createLadder, type Ladder, type Step } from "./ladder/ladder.ts";
import { linkToDaemon } from "./link/daemon-link.ts";
import { LINK_SOCKET } from "./link/messages.ts";
import { decoyCertificate } from "./personas/certificate.ts";
import type { ServicePlace } from "./personas/persona.ts";
import { PERSONAS } from "./personas/table.ts";
import type { Stage } from "./services/service.ts";
import { createSshHost } from "./services/ssh/ssh-host.ts";
import { SERVICES, TLS_SERVICES } from "./services/table.ts";
import { type DecoyListener, listenDecoy } from "./sessions/listen.ts";
import { openSession } from "./sessions/session.ts";
import { createSessionTable, type SessionTable } from "./sessions/session-table.ts";
import type { DecoySettings, DecoysSettings } from "./settings.ts";

/** A service that is served, or is not. */
export interface ServedPlace {
  readonly decoy: string;
  readonly address: string;
  readonly service: string;
  readonly port: number;
  /** Null where it is served. */
  readonly problem: string | null;
}

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
  const [guesses, tests] = [createGuesses(), createExpectedTests()];
  const exemptions = createExemptions(settings.exempt, ownAddresses);
  const sessions = createSessionTable(settings.max_sessions);
  const counts = { connections: 0, failures: 0, vanished: 0 };
  const isBait = (username: string, isPassword: (password: string) => boolean) => settings.bait.some((one) => one.username === username && isPassword(one.password));
  const accept = (socket: Socket, source: string, { decoy, service, port, stage, tls }: Place) => {
    counts.connections += 1;
    const isTest = exemptions.isOwn(source) && tests.take(decoy.name, port, clock.monotonic());
    const isExempt = !isTest && exemptions.take(source, port, new Date(clock.now()));
    const step = { isTest, decoy: decoy.name, service, source, sourcePort: socket.remotePort ?? 0, destination: decoy.address, destinationPort: port };
    let incidentId: string | null = null;
    const onStep = (rung: Step["rung"], username: string, detail: string) => {
      if (!isExempt) incidentId = ladder.climb({ ...step, rung, username, detail }, clock.now(), clock.monotonic());
    };
    const onPassword = (username: string, password: string, isBait: boolean) => {
      if (incidentId !== null && settings.report_passwords) guesses.add(incidentId, decoy.name, { service, username, password, is_bait: isBait });
    };
    onStep("touch", "", "");
    sessions.add(socket, source);
    const stream = tls ? new TLSSocket(socket, { isServer: true, secureContext: tls }) : socket;
    if (tls) stream.once("secure", () => onStep("banner", "", ""));
    openSession(stream, {
      service: SERVICES[service], stage, address: source, onStep, onPassword, onEnd: () => socket.destroy(), isBait, randomBytes, clock,
      onFailure(error) {
        counts.failures += 1;
        log.error({ service, reason: describeError(error) }, "a decoy's service failed; its connection was closed");
      },
    });
  };
  const opened = await openPlaces(settings, clock, { accept, onVanished: () => (counts.vanished += 1) });
  for (const { decoy, address, service, port, problem } of opened.places) if (problem !== null) log.error({ decoy, service, port, reason: problem }, `${address} does not serve ${service}`);
  if (opened.places.every(({ problem }) => problem !== null)) {
    await opened.close();
    throw new ProbeError("config-invalid", `no decoy can be served: ${opened.places[0]?.problem ?? ""}`);
  }
  const endLink = linkToDaemon({
    path: join(settings.link_directory, LINK_SOCKET), ladder, guesses, random: Math.random, clock, onExempt: exemptions.takeSite,
    onTest(name) {
      const place = opened.places.find(({ decoy, problem }) => decoy === name && problem === null);
      if (place) tests.expect(name, place.port, clock.monotonic());
      return place ? { address: place.address, port: place.port } : null;
    },
    state: () => ({ ...counts, sessions: sessions.size, exempt: [...exemptions.counts()], decoys: reportDecoys(settings.decoys, opened.places) }),
  });
  return {
    places: opened.places, ladder, exemptions, sessions, counts,
    async close() {
      endLink();
      sessions.close();
      await opened.close();
    },
  };
}

/** Beyond them they are left out of what is reported. */
const MAX_REPORTED_PLACES = 512;

function reportDecoys(decoys: readonly DecoySettings[], places: readonly ServedPlace[]): DecoyReport[] {
  let room = MAX_REPORTED_PLACES;
  return decoys.map((decoy) => {
    const own = places.filter((place) => place.decoy === decoy.name).slice(0, Math.max(0, room));
    room -= own.length;
    const services = own.map(({ service, port, problem }) => ({ service, port, problem: problem && problem.slice(0, 255) }));
    return { name: decoy.name, address: decoy.address, persona: decoy.persona, hostname: hostnameOf(decoy), services };
  });
}

function hostnameOf({ hostname, name }: DecoySettings): string {
  return hostname ?? name.replaceAll(/[^A-Za-z0-9-]/g, "-").slice(0, 63);
}

interface Place extends ServicePlace {
  readonly decoy: DecoySettings;
  readonly stage: Stage;
  /** Null for what begins without TLS. */
  readonly tls: SecureContext | null;
}

async function openPlaces(settings: DecoysSettings, clock: Clock, { accept, onVanished }: {
  readonly accept: (socket: Socket, source: string, place: Place) => void; readonly onVanished: () => void;
}) {
  const listeners: DecoyListener[] = [];
  const places: ServedPlace[] = [];
  for (const decoy of settings.decoys) {
    const persona = PERSONAS[decoy.persona];
    const hostname = hostnameOf(decoy);
    const services = decoy.services ?? persona.services;
    const ssh = persona.ssh !== null && services.some(({ service }) => service === "ssh") ? await createSshHost({ dataDir: settings.data_dir, hostname, ident: persona.ssh }) : null;
    const stage: Stage = { persona, hostname, ssh };
    const tls = services.some(({ service }) => TLS_SERVICES.has(service)) ? await secureContext(settings.data_dir, hostname, clock.now()) : null;
    for (const { service, port } of services) {
      const place = { decoy: decoy.name, address: decoy.address, service };
      if (service === "ssh" && ssh === null) {
        places.push({ ...place, port, problem: `nothing here passes for the SSH of a ${decoy.persona}: leave it out, or choose another persona` });
        continue;
      }
      try {
        const listener = await listenDecoy(decoy.address, port, {
          onConnection: (socket, source) => accept(socket, source, { decoy, service, port: listener.port, stage, tls: TLS_SERVICES.has(service) ? tls : null }), onVanished,
        });
        listeners.push(listener);
        places.push({ ...place, port: listener.port, problem: null });
      } catch (error) {
        places.push({ ...place, port, problem: explain(error, decoy.address, port) });
      }
    }
  }
  return { places, close: async () => void (await Promise.all(listeners.map((listener) => listener.close()))) };
}

async function secureContext(dataDir: string, hostname: string, nowMs: number): Promise<SecureContext> {
  const { certificate, key } = await decoyCertificate(dataDir, hostname, nowMs);
  return createSecureContext({ cert: certificate, key, minVersion: "TLSv1.2" });
}

function explain(error: unknown, address: string, port: number): string {
  const code = (error as { readonly code?: unknown }).code;
  if (code === "EADDRINUSE") return `port ${port} of ${address} is in use: a decoy serves only what the machine itself does not`;
  if (code === "EADDRNOTAVAIL") return `${address} is no address of this machine (see: ip address)`;
  if (code === "EACCES") return `port ${port} needs the capability CAP_NET_BIND_SERVICE: start it as the service lanthorn-decoy, or as root`;
  return describeError(error);
}
